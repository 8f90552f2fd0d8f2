/**
 * What may be sent to a chart: one zod schema for each event, with what it says and who sends it. Machines declare it
 * beside themselves.
 */
import * as z from 'zod';
import { RuntimeError } from '../errors.ts';

export interface DeclaredEvent<Schema extends z.ZodType = z.ZodType> {
  /** `command`: the sender asks for something and must not be ignored. `fact`: tells what has happened. */
  readonly kind: 'command' | 'fact';
  /** What it says, as a sentence. */
  readonly says: string;
  /** Who sends it: `the supervisor`, `a person`. */
  readonly from: string;
  /** The whole event, `type` among its fields. */
  readonly schema: Schema;
  /** Names of the fields beside `type`, with a question mark after those that may be left out. */
  readonly fields: readonly string[];
  /** Events to try the chart with, where guards check their fields. One with nothing but `type` where absent. */
  readonly samples: readonly SampleEvent[];
}

interface SampleEvent {
  readonly type: string;
}

/** By type. */
export type ChartEvents = Readonly<Record<string, DeclaredEvent>>;

interface Declaration {
  readonly says: string;
  readonly from: string;
  /** The fields beside `type`. */
  readonly data?: z.ZodRawShape;
  /** The fields beside `type` of events to try the chart with. They have to satisfy `data`. */
  readonly samples?: readonly Readonly<Record<string, unknown>>[];
}

type Declarations = Readonly<Record<string, Declaration>>;

type SchemaOf<Type extends string, Declared extends Declaration> = z.ZodObject<
  { readonly type: z.ZodLiteral<Type> } & (Declared extends { readonly data: infer Data } ? Data : unknown),
  z.core.$strict
>;

type DeclaredAs<Declared extends Declarations> = {
  readonly [Type in keyof Declared & string]: DeclaredEvent<SchemaOf<Type, Declared[Type]>>;
};

/** The events of a registry, as a type. */
export type EventOf<Events extends ChartEvents> = {
  [Type in keyof Events]: z.output<Events[Type]['schema']>;
}[keyof Events];

interface Kinds {
  readonly commands?: Declarations;
  readonly facts?: Declarations;
}

type EventsOf<Of extends Kinds> = (Of extends { readonly commands: infer Commands extends Declarations }
  ? DeclaredAs<Commands>
  : unknown) &
  (Of extends { readonly facts: infer Facts extends Declarations } ? DeclaredAs<Facts> : unknown);

/**
 * Declares the events of a chart, commands and facts apart. @throws ZodError when a sample does not satisfy its schema
 */
export function chartEvents<const Of extends Kinds>(kinds: Of): EventsOf<Of> {
  const ofKind = (kind: DeclaredEvent['kind'], declared: Declarations = {}): [string, DeclaredEvent][] =>
    Object.entries(declared).map(([type, declaration]) => [type, eventOf(type, kind, declaration)]);
  // Each entry is made from the declaration of its type.
  return Object.fromEntries([...ofKind('command', kinds.commands), ...ofKind('fact', kinds.facts)]) as EventsOf<Of>;
}

/** Of what a registry is made that was not typed: what audits rely on. */
const declaredEvents = z.record(
  z.string(),
  z.looseObject({
    kind: z.enum(['command', 'fact']),
    says: z.string(),
    from: z.string(),
    fields: z.array(z.string()).readonly(),
    samples: z
      .array(z.looseObject({ type: z.string() }))
      .readonly()
      .optional(),
  }),
);

/** @throws RuntimeError CHART_EVENTS_INVALID, for what is no registry that `chartEvents` has made */
export function refuseBadEvents(chart: string, events: unknown): void {
  const checked = declaredEvents.safeParse(events);
  if (checked.success) return;
  throw new RuntimeError(
    'CHART_EVENTS_INVALID',
    `the events of chart "${chart}" cannot be read: ${z.prettifyError(checked.error).replaceAll(/\s*\n\s*/g, ' ')}`,
    { category: 'validation', hint: 'Declare them with chartEvents({ commands, facts }).' },
  );
}

function eventOf(
  type: string,
  kind: DeclaredEvent['kind'],
  { says, from, data = {}, samples = [{}] }: Declaration,
): DeclaredEvent {
  const schema = z.strictObject({ type: z.literal(type), ...data });
  const tried = samples.map((sample) => ({ ...sample, type }));
  for (const sample of tried) schema.parse(sample);
  return {
    kind,
    says,
    from,
    schema,
    fields: Object.entries(data).map(([name, field]) => (z.safeParse(field, undefined).success ? `${name}?` : name)),
    samples: tried,
  };
}
