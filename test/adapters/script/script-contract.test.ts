import { describeAgentRuntime } from '../../contracts/agent-runtime.contract.ts';
import { SCRIPT_OPTIONS, openScriptSubject } from '../../support/script-subject.ts';

describeAgentRuntime('the script backend', openScriptSubject, { ...SCRIPT_OPTIONS, skips: 3 });
