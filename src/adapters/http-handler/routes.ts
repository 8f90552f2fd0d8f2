/** All routes, in the order of the document. */
import { agUiRoutes } from './ag-ui-route.ts';
import { chatRoutes } from './chat-routes.ts';
import { eventRoutes } from './events-route.ts';
import { openApi } from './openapi.ts';
import { json, route } from './route.ts';
import type { Route } from './route.ts';
import { sessionRoutes } from './session-routes.ts';
import * as z from 'zod';

const described: readonly Route[] = [...sessionRoutes, ...eventRoutes, ...chatRoutes, ...agUiRoutes];

const document = route({
  method: 'GET',
  path: '/openapi.json',
  action: 'read',
  summary: 'This document.',
  answers: [{ status: 200, what: 'OpenAPI 3.1.', schema: z.looseObject({}) }],
  handle: async ({ settings }) => json(openApi(routes, settings.basePath)),
});

export const routes: readonly Route[] = [...described, document];
