/** What a tool gave back, as the model of the program read it: its texts, with a word for what is no text. */
import { isNestedTooDeeply } from '../../machines/vault/secret-redaction.ts';

/** `content` is a text, or blocks as the protocols of models and of MCP know them. */
export function toolOutputText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (isNestedTooDeeply(content)) return '[something that is nested too deeply]';
  if (!Array.isArray(content)) return content === undefined || content === null ? '' : JSON.stringify(content);
  return (content as unknown[]).map(blockText).join('\n');
}

function blockText(block: unknown): string {
  if (typeof block !== 'object' || block === null) return String(block);
  const { type, text } = block as Partial<Record<'type' | 'text', unknown>>;
  if (typeof text === 'string') return text;
  return `[${typeof type === 'string' ? type : 'something'} that is no text]`;
}
