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
    const { type, data } = event;
    if (type === 'span.started') step = {};
    else if (type === 'agent.thinking') step.reasoning = joined(step.reasoning, data.text);
    else if (type === 'agent.message') step.text = joined(step.text, data.text);
    else if (type === 'agent.tool_use') (step.toolCalls ??= []).push({ name: data.name, input: data.input });
    else if (type === 'directive.accepted') step.directive = data.directive;
    // A step that failed or was cut short would be taken again.
    else if (type === 'span.completed' && data.outcome === 'completed') steps.push(data.usage === undefined ? step : { ...step, usage: data.usage });
  }
  return { format: 'wakechart-script/1', steps, onEnd: 'sleep' };
}

function joined(before: string | undefined, text: string): string {
  return before === undefined ? text : `${before}\n\n${text}`;
}
