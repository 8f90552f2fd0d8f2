/** One message per line, in both directions. */

export interface TypedMessage {
  readonly type: string;
}

/** The message that a line holds; undefined for a line that holds none. */
export function messageIn(line: string): TypedMessage | undefined {
  const value = valueIn(line);
  return isTyped(value) ? value : undefined;
}

/** The same for messages that name no type. */
export function objectIn(line: string): object | undefined {
  const value = valueIn(line);
  return typeof value === 'object' && value !== null ? value : undefined;
}

export function jsonLine(message: unknown): string {
  return `${JSON.stringify(message)}\n`;
}

function valueIn(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function isTyped(value: unknown): value is TypedMessage {
  return typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string';
}
