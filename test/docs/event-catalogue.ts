/** The catalogue of session events as Markdown, written from their schemas. */
import { z } from 'zod';
import { sessionEventDefinitions } from '../../src/machines/session/event-schemas.ts';

interface JsonSchema {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly required?: readonly string[];
}

const HEAD = `# Events

Every event that a session's log may hold, written from their schemas. An event is
\`{ id, seq, sessionId, at, type, v, data, epoch? }\`: \`seq\` is its place in the log, dense from 1; \`v\` the version of its type; \`epoch\` the wake that wrote it, absent
when it came from outside. A meaning that changes is a new version; a log of any released version opens.

| event | v | means | data |
|---|---|---|---|
`;

export function eventCatalogue(): string {
  const rows = Object.entries(sessionEventDefinitions).map(
    ([type, { v, description, data }]) => `| \`${type}\` | ${v} | ${description} | ${fieldsOf(data)} |\n`,
  );
  return `${HEAD}${rows.join('')}`;
}

function fieldsOf(data: z.ZodType): string {
  const { properties = {}, required = [] } = z.toJSONSchema(data, {
    io: 'input',
    unrepresentable: 'any',
  }) as JsonSchema;
  return Object.keys(properties)
    .map((name) => `\`${name}${required.includes(name) ? '' : '?'}\``)
    .join(' ');
}
