/**
 * The tool `http_request`, as a model sees it: one request, whose headers may hold secrets by reference, and what came
 * back.
 */
import * as z from 'zod';
import { vaultValue } from '../agent/mcp-server.ts';
import { headerName } from '../text-schemas.ts';
import type { ToolDefinition } from './tool-definition.ts';

const MAX_BODY_CHARACTERS = 1_000_000;
const MAX_RESPONSE_BYTES = 10 * 1024 * 1024;
const DEFAULT_RESPONSE_BYTES = 256 * 1024;
const DEFAULT_HTTP_TIMEOUT_SECONDS = 30;
const MAX_HTTP_TIMEOUT_SECONDS = 300;
/** From one URL of a path to another of the same. */
export const MAX_REDIRECTS = 5;

const headerText = z
  .string()
  .max(10_000)
  .regex(/^[\t\u0020-\u007e\u0080-\u00ff]*$/, 'expected a value on one line, of characters that a header can hold');

/** Set by the sender of the request, or about the connection itself. */
const OWN_HEADERS =
  /^(?:host|content-length|connection|transfer-encoding|upgrade|expect|keep-alive|te|trailer|accept-encoding|proxy-.*)$/i;

/**
 * A slash that is written in another way may be one to the server, and lead elsewhere than a rule about paths allows.
 */
const HIDDEN_WAY = /%(?:2f|5c)|\\/i;

const url = z
  .url({ protocol: /^https?$/, error: 'expected an http or https URL' })
  .max(8_192)
  .refine(
    (address) => isPlain(address),
    'expected a URL without a user, a password, and slashes that are written as %2F or %5C',
  );

/** Whatever it is, `z.url` has said so already. */
function isPlain(address: string): boolean {
  try {
    const { username, password, pathname } = new URL(address);
    return username === '' && password === '' && !HIDDEN_WAY.test(pathname) && !address.includes('\\');
  } catch {
    return true;
  }
}

export const httpRequestInput = z
  .strictObject({
    method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']).default('GET'),
    url,
    headers: z
      .record(headerName, z.union([headerText, vaultValue]))
      .refine((headers) => Object.keys(headers).length <= 100, 'expected at most 100 headers')
      .refine(
        (headers) => !Object.keys(headers).some((name) => OWN_HEADERS.test(name)),
        'expected no headers about the connection itself, such as Host or Content-Length',
      )
      .optional()
      .describe(
        'Values, or secrets by reference: { "Authorization": { "vault": "github/token", "prefix": "Bearer " } }. vault_list says which there are.',
      ),
    body: z
      .string()
      .max(MAX_BODY_CHARACTERS)
      .optional()
      .describe('The body as text. Say in a Content-Type header what it is.'),
    json: z.unknown().optional().describe('The body as a JSON value.'),
    timeoutSeconds: z.number().int().min(1).max(MAX_HTTP_TIMEOUT_SECONDS).default(DEFAULT_HTTP_TIMEOUT_SECONDS),
    maxBytes: z
      .number()
      .int()
      .min(1)
      .max(MAX_RESPONSE_BYTES)
      .default(DEFAULT_RESPONSE_BYTES)
      .describe('How much of the answer is read.'),
  })
  .refine(({ body, json }) => body === undefined || json === undefined, 'expected a body as text or as JSON, not both')
  .refine(
    ({ method, body, json }) => (method !== 'GET' && method !== 'HEAD') || (body === undefined && json === undefined),
    'expected no body with GET and HEAD',
  );

export type HttpRequestInput = z.output<typeof httpRequestInput>;

const httpRequestOutput = z.strictObject({
  status: z.number().int(),
  /** Where the answer came from, after redirects. */
  url: z.string(),
  headers: z.record(z.string(), z.string()),
  /** Absent where there is none, and where it is no text. */
  body: z.string().optional(),
  /** Bytes of the body that were read. */
  bytes: z.number().int().nonnegative(),
  /** The answer was longer than `maxBytes`. */
  truncated: z.literal(true).optional(),
  /** What the model has to know besides. */
  note: z.string().optional(),
});

export type HttpRequestOutput = z.output<typeof httpRequestOutput>;

export const httpRequestDefinition: ToolDefinition<HttpRequestInput> = {
  name: 'http_request',
  description:
    'Sends one HTTP request and returns status, headers and the body as text. Headers may hold secrets by reference, which are sent over https only and to no other host than those they are for. A redirect is followed where it asks a GET or HEAD to come back to the same path of the same host; any other is returned, for you to decide.',
  inputSchema: httpRequestInput,
  outputSchema: httpRequestOutput,
  ownership: 'managed',
  family: 'network',
  permissionPolicy: 'always_allow',
  effects: ['uses_network', 'uses_secrets'],
  readOnly: false,
  destructive: true,
  interruptBehavior: 'cancel',
};
