/** `wakechart/http`: the sessions of a runtime over HTTP, for any server that takes requests of the Web's. */
export { createHttpHandler } from './adapters/http-handler/handler.ts';
export type { HttpHandler } from './adapters/http-handler/handler.ts';
export { toNodeListener } from './adapters/http-handler/node-listener.ts';
export type {
  Authorize,
  HttpAction,
  HttpActionSubject,
  HttpCaller,
  HttpHandlerOptions,
  ServedRuntime,
} from './adapters/http-handler/handler-options.ts';
export type { Lacked, LackedHere } from './actors/workspace-copy/lacked-here.ts';
