/**
 * An agent that does with its secret whatever agents do by accident: prints it, wraps it, sends it, says it, fails over
 * it.
 */
import type { AgentRuntime } from '../../../src/actors/run/agent-runtime.ts';
import { toldRuntime } from '../../support/told-runtime.ts';
import type { Act } from '../../support/told-runtime.ts';

/** With signs that are written otherwise in JSON, in URLs and in shells. */
export const SECRET = 'ghp_"4xR/7+q\\Lm=Zt9&w%Kd2vB8sN6';

/** Every form in which it may lie in a file; each is searched for. */
export const FORMS: Readonly<Record<string, string>> = {
  plain: SECRET,
  json: JSON.stringify(SECRET).slice(1, -1),
  'json in json': JSON.stringify(JSON.stringify(SECRET)).slice(3, -3),
  'three times in json': JSON.stringify(JSON.stringify(JSON.stringify(SECRET))).slice(7, -7),
  url: encodeURIComponent(SECRET),
  base64: Buffer.from(SECRET).toString('base64').replace(/=+$/, ''),
  'base64 moved by one': Buffer.from(`x${SECRET}`).toString('base64').slice(2, -4),
  'base64 moved by two': Buffer.from(`xy${SECRET}`).toString('base64').slice(3, -4),
  hex: Buffer.from(SECRET).toString('hex'),
  'upper-case hex': Buffer.from(SECRET).toString('hex').toUpperCase(),
};

const uses =
  (name: string, input: object): Act =>
  () => ({ payloads: [{ type: 'tool_call', callId: 'c', name, input }], meta: { modelSteps: 1 } });
const runs = (command: string, more: object = {}): Act =>
  uses('shell_run', { command, secrets: { TOKEN: 'github/token' }, ...more });

/** As a model streams: in pieces of every length. */
const streams =
  (text: string): Act =>
  (_params, tell) => {
    for (let at = 0, length = 1; at < text.length; at += length, length = (length % 5) + 1)
      tell({ stream: 'assistant', data: { kind: 'text', text: text.slice(at, at + length) } });
    return {
      payloads: [
        { type: 'reasoning', text: `I know ${text}` },
        { type: 'text', text },
      ],
      meta: { modelSteps: 1 },
    };
  };

export interface LeakyPlaces {
  /** Of a server that answers with what it was sent. */
  readonly httpUrl: string;
}

export function leakyRuntime({ httpUrl }: LeakyPlaces): AgentRuntime {
  const rest = streams(`The token is ${SECRET}, or ${Buffer.from(SECRET).toString('base64')}.`);
  return toldRuntime('leaky', [
    runs(
      'printf "%s\\n" "$TOKEN"; printf "%s" "$TOKEN" | base64 -w 20; printf "u:%s" "$TOKEN" | base64; printf "%s" "$TOKEN" | od -An -tx1; printf "%s" "$TOKEN" | od -An -c',
    ),
    runs(
      `for part in 1 6 11 16 21 26 31; do printf %s "$TOKEN" | cut -c$part-$((part + 4)) | tr -d "\\n"; sleep 0.01; done; echo`,
    ),
    runs('echo "fatal: could not read $TOKEN" >&2; exit 3'),
    runs(
      'node -e \'const s = process.env.TOKEN; console.log(JSON.stringify(JSON.stringify({ s })), encodeURIComponent(s)); for (let i = 0; i < 4000; i += 1) console.log(i, "x".repeat(i % 60) + s)\'',
    ),
    uses('shell_open', { name: 'main', secrets: { TOKEN: 'github/token' } }),
    uses('shell_exec', { shell: 'main', command: 'echo "in a shell: $TOKEN"; printf %s "$TOKEN" | base64' }),
    uses('shell_read_last_output', { shell: 'main' }),
    uses('http_request', {
      method: 'POST',
      url: httpUrl,
      headers: { 'x-token': { vault: 'github/token' } },
      body: 'hello',
    }),
    uses('http_request', { url: httpUrl, headers: { 'x-token': { vault: 'github/none' } } }),
    uses('echoing__env', {}),
    uses('echoing__crash', {}),
    // What a model types itself is refused, and not run.
    uses('shell_run', { command: `touch typed; echo ${SECRET}` }),
    uses('write', { path: 'note.txt', content: `the key: ${SECRET}` }),
    uses('vault_list', {}),
    uses(`no_tool_${SECRET}`, { [SECRET]: SECRET }),
    rest,
    rest,
  ]);
}

/** Prints for longer than anybody waits. */
export const endlessRuntime = (): AgentRuntime =>
  toldRuntime('endless', [
    runs(
      'echo begun > begun; i=0; while :; do printf %s "$TOKEN"; i=$((i + 1)); printf "%s" "$TOKEN" | base64; sleep 0.01; done',
    ),
  ]);

/** The same agent, with another model. */
export const survivingRuntime = (): AgentRuntime => toldRuntime('endless', [streams(`After the crash: ${SECRET}`)]);
