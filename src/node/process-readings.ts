/** What a process of Node tells of itself, under the names that dashboards for Prometheus know. */
import { createRequire } from 'node:module';
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

/** By its own name: what is built lies at other depths than its sources, and a program that is bundled has none. */
function readVersion(): string {
  try {
    const manifest = createRequire(import.meta.url)('wakechart/package.json') as { readonly version: string };
    return manifest.version;
  } catch {
    return 'unknown';
  }
}
