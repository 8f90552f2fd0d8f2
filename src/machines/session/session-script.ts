/** What an agent did in a session, as a script that plays it again: one step for each model step that completed. */
import type { SessionEvent } from './session-event.ts';

interface ScriptStep {
  text?: string;
  reasoning?: string;
  toolCalls?: { name: string; input: unknown }[];
  directive?: unknown;
  usage?: unknown;
}

export interface RecordedScript {
  readonly format: 'wakechart-script/1';
  readonly steps: readonly Readonly<ScriptStep>[];
  readonly onEnd: 'sleep';
}

export function scriptOf(events: Iterable<SessionEvent>): RecordedScript {
  const steps: ScriptStep[] = [];
  let step: ScriptStep = {};
  for (const event of events) {
    switch (event.type) {
      case 'span.started':
        step = {};
        break;
      case 'agent.thinking':
        step.reasoning = joined(step.reasoning, event.data.text);
        break;
      case 'agent.message':
        step.text = joined(step.text, event.data.text);
        break;
      case 'agent.tool_use':
        (step.toolCalls ??= []).push({ name: event.data.name, input: event.data.input });
        break;
      case 'directive.accepted':
        step.directive = event.data.directive;
        break;
      case 'span.completed':
        // A step that failed or was cut short would be taken again.
        if (event.data.outcome === 'completed') steps.push(event.data.usage === undefined ? step : { ...step, usage: event.data.usage });
        break;
      default:
        break;
    }
  }
  return { format: 'wakechart-script/1', steps, onEnd: 'sleep' };
}

function joined(before: string | undefined, text: string): string {
  return before === undefined ? text : `${before}\n\n${text}`;
}
