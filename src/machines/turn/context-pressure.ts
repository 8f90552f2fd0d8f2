/** How full a model's context is, as one of four levels and in words. */
import type { ContextReport } from './context-report.ts';

/** From nothing to do, to the oldest part being left out with the next step. */
export const PRESSURE_LEVELS = ['low', 'moderate', 'high', 'critical'] as const;

export type PressureLevel = (typeof PRESSURE_LEVELS)[number];

export interface ContextPressure {
  readonly level: PressureLevel;
  /** What is spent of the context, the room for the answer included: 1 is all of it; more when it does not fit. */
  readonly share: number;
  /** One or two sentences. */
  readonly because: string;
}

/** The share from which each level begins. */
const PRESSURE_FROM = { low: 0, moderate: 0.5, high: 0.75, critical: 0.9 } as const satisfies Record<
  PressureLevel,
  number
>;

const PARTS = [
  'instructions',
  'tools',
  'messages',
  'attachments',
  'reserved',
] as const satisfies readonly (keyof ContextReport)[];

const PART_WORDS = {
  instructions: 'the instructions',
  tools: 'the tools',
  messages: 'messages',
  attachments: 'images and files',
  reserved: 'the room for the answer',
} as const satisfies Record<(typeof PARTS)[number], string>;

export function contextPressure(report: ContextReport): ContextPressure {
  const share = report.maxTokens > 0 ? report.total / report.maxTokens : 1;
  return {
    level: levelOf(share),
    share: Math.round(share * 1_000) / 1_000,
    because: [spentWords(report, share), ...leftOutWords(report)].join(' '),
  };
}

function levelOf(share: number): PressureLevel {
  return PRESSURE_LEVELS.findLast((level) => share >= PRESSURE_FROM[level]) ?? 'low';
}

function spentWords(report: ContextReport, share: number): string {
  const largest = PARTS.reduce((most, part) => (report[part] > report[most] ? part : most));
  const largestShare = report.total > 0 ? Math.round((100 * report[largest]) / report.total) : 0;
  return `About ${Math.floor(100 * share)} % of the context is spent, ${largestShare} % of that on ${PART_WORDS[largest]}.`;
}

function leftOutWords({ omittedMessages, shortenedMessages }: ContextReport): string[] {
  if (omittedMessages === 0 && shortenedMessages === 0) return [];
  return [
    `Earlier messages are left out (${omittedMessages}) or shortened (${shortenedMessages}); the log keeps them.`,
  ];
}
