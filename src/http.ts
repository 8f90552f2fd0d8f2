/** `wakechart/http`: the sessions of a runtime over HTTP, for any server that takes requests of the Web's. */
export { createHttpHandler } from './adapters/http-handler/handler.ts';
export type { HttpHandler } from './adapters/http-handler/handler.ts';
export { toNodeListener } from './adapters/http-handler/node-listener.ts';
export type { HttpAction, HttpCaller, HttpHandlerOptions } from './adapters/http-handler/handler-options.ts';
