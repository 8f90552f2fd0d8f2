import { describeAgentRuntime } from '../../contracts/agent-runtime.contract.ts';
import { EMBEDDED_OPTIONS, openEmbeddedSubject } from '../../support/http-models/embedded-subject.ts';

for (const api of ['anthropic', 'openai', 'openai-chat'] as const) {
  describeAgentRuntime(`the embedded backend over ${api}`, () => openEmbeddedSubject(api), {
    ...EMBEDDED_OPTIONS,
    skips: 1,
  });
}
