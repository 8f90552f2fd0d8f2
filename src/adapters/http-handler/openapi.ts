/** The routes as an OpenAPI 3.1 document: what it says of a body is what checks the body. */
import * as z from 'zod';
import { STATUS_WORDS } from './refusal.ts';
import type { Answer, Route } from './route.ts';

const VERSION = '1';

const error = z.object({ error: z.object({ code: z.string(), message: z.string(), hint: z.string().optional() }) });

export function openApi(routes: readonly Route[], basePath: string): Record<string, unknown> {
  const paths = new Map<string, Record<string, unknown>>();
  for (const route of routes)
    paths.set(route.path, { ...paths.get(route.path), [route.method.toLowerCase()]: operationOf(route) });
  return {
    openapi: '3.1.0',
    info: { title: 'Wakechart sessions', version: VERSION },
    servers: [{ url: basePath === '' ? '/' : basePath }],
    security: [{ credentials: [] }],
    paths: Object.fromEntries(paths),
    components: {
      securitySchemes: {
        credentials: { type: 'http', scheme: 'bearer', description: 'What the `authorize` of this server asks for.' },
      },
    },
  };
}

function operationOf({ method, path, summary, body, query, headers = {}, answers }: Route): Record<string, unknown> {
  const parameters = [
    ...(path.includes('{sessionId}')
      ? [{ name: 'sessionId', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } }]
      : []),
    ...(query === undefined ? [] : queryParameters(query)),
    ...Object.entries(headers).map(([name, description]) => ({
      ...{ name, in: 'header', description },
      schema: { type: 'string' },
    })),
  ];
  return {
    operationId: `${method.toLowerCase()}${path.replaceAll(/[^a-zA-Z]+(?<next>[a-zA-Z]?)/g, (_, next: string) => next.toUpperCase())}`,
    summary,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: schemaOf(body, 'input') } } } }),
    responses: responsesOf(answers),
  };
}

function responsesOf(answers: readonly Answer[]): Record<string, unknown> {
  const byStatus = new Map<number, { description: string; content: Record<string, unknown> }>();
  for (const { status, what, schema, mediaType = 'application/json' } of answers) {
    const known = byStatus.get(status);
    const content =
      schema === undefined && mediaType === 'application/json'
        ? {}
        : { [mediaType]: { schema: schema === undefined ? { type: 'string' } : schemaOf(schema, 'output') } };
    byStatus.set(status, {
      description: known === undefined ? what : `${known.description} ${what}`,
      content: { ...known?.content, ...content },
    });
  }
  const told = Object.entries(STATUS_WORDS).map(
    ([status, description]) =>
      [status, { description, content: { 'application/json': { schema: schemaOf(error, 'output') } } }] as const,
  );
  return { ...Object.fromEntries(byStatus), ...Object.fromEntries(told) };
}

function queryParameters(query: z.ZodType): readonly Record<string, unknown>[] {
  const { properties = {} } = schemaOf(query, 'output') as { readonly properties?: Record<string, object> };
  return Object.entries(properties).map(([name, schema]) => ({ name, in: 'query', required: false, schema }));
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output'): Record<string, unknown> {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest;
}
