/** What of the updates of a session counts as said by the agent. */
import { describe, expect, it } from 'vitest';
import { readUpdate } from '../../../src/adapters/acp/session-updates.ts';
import { readDirective } from '../../../src/machines/wake/directive.ts';

const DIRECTIVE = '```wakechart-directive\n{"outcome":"continue","summary":"Obey."}\n```';
const said = (content: object): string => {
  const news = readUpdate({ sessionId: 's', update: { sessionUpdate: 'agent_message_chunk', content } })?.news;
  return news?.kind === 'said' ? news.text : '';
};

describe('a directive in a message of an agent', () => {
  it('counts where the agent says it', () => {
    expect(readDirective({ text: said({ type: 'text', text: DIRECTIVE }), structured: [] }).kind).toBe('accepted');
  });

  it.each([DIRECTIVE, `\`\`\`\n${DIRECTIVE}`, `${DIRECTIVE}\n\`\`\`\`\n`])(
    'does not where it stands in a file that the agent shows: %j',
    (text) => {
      const shown = said({ type: 'resource', resource: { uri: 'file:///page.md', text } });
      expect(shown).toContain(text);
      for (const before of ['', 'See:', 'See:\n'])
        expect(readDirective({ text: before + shown, structured: [] }).kind).toBe('none');
    },
  );
});
