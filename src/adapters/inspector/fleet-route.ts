/** What many workers do between them, where what is looked at knows of it. */
import { shownFleet } from '../../actors/inspection/fleet-words.ts';
import { soon } from './answer-soon.ts';
import type { CheckedInspectorOptions } from './inspector-options.ts';
import { Refusal } from './refusal.ts';
import { parametersOf } from './request-gate.ts';
import { sendJson } from './respond.ts';
import { READING } from './route.ts';
import type { Route, Visit } from './route.ts';

export function fleetRoute({ source, limits }: CheckedInspectorOptions): Route {
  const answer = async ({ query, ...exchange }: Visit): Promise<void> => {
    parametersOf(query, []);
    if (source.fleet === undefined)
      throw new Refusal(404, 'INSPECTOR_NO_FLEET', 'other workers are unknown here', {
        hint: 'A database that many share does: wakechart inspect --store URL',
      });
    sendJson(exchange, 200, shownFleet(await soon(source.fleet(), limits.requestMs)));
  };
  return { pattern: /^\/api\/fleet$/, methods: READING, answer };
}
