/** A prompt of an editor as the text of one message. */
import type { ContentBlock } from '@agentclientprotocol/sdk';
import { RuntimeError } from '../../machines/errors.ts';

/** @throws RuntimeError ACP_PROMPT_INVALID for what was not offered, and for a prompt without text */
export function promptText(blocks: readonly ContentBlock[]): string {
  const text = blocks.map(blockText).join('\n\n').trim();
  if (text === '') throw invalid('it holds no text');
  return text;
}

function blockText(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'resource_link':
      return `[${block.name}](${block.uri})`;
    case 'resource':
      if ('text' in block.resource) return `${block.resource.uri}\n\`\`\`\n${block.resource.text}\n\`\`\``;
      throw invalid('it holds a file that is no text');
    case 'image':
    case 'audio':
      throw invalid(`it holds ${block.type}`);
  }
}

function invalid(why: string): RuntimeError {
  return new RuntimeError('ACP_PROMPT_INVALID', `the prompt cannot be taken: ${why}`, {
    category: 'validation',
    hint: 'Send text, links to files, or files of text.',
  });
}
