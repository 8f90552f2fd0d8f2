/** A parser of Prometheus text that comes without types. */
declare module 'parse-prometheus-text-format' {
  interface ParsedMetric {
    readonly value?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly buckets?: Readonly<Record<string, string>>;
    readonly count?: string;
    readonly sum?: string;
  }
  interface ParsedFamily {
    readonly name: string;
    readonly help: string;
    readonly type: string;
    readonly metrics: readonly ParsedMetric[];
  }
  export default function parse(text: string): readonly ParsedFamily[];
}
