/** What a process of Node tells of itself, under the names that dashboards for Prometheus know. */
import { readFileSync } from 'node:fs';
import type { MetricReading } from '../machines/telemetry/metric-catalog.ts';

let version: string | undefined;

export function processReadings(): readonly MetricReading[] {
  const { user, system } = process.cpuUsage();
  version ??= readVersion();
  return [
    { metric: 'wakechart_build_info', labels: { version, node: process.versions.node }, value: 1 },
    { metric: 'process_start_time_seconds', labels: {}, value: Date.now() / 1_000 - process.uptime() },
    { metric: 'process_resident_memory_bytes', labels: {}, value: process.memoryUsage.rss() },
    { metric: 'process_cpu_seconds_total', labels: {}, value: (user + system) / 1_000_000 },
  ];
}

function readVersion(): string {
  // The same distance from sources and from what they are compiled to.
  const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    readonly version: string;
  };
  return manifest.version;
}
