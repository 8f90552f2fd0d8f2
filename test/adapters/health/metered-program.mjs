/** A program that registers a provider of metrics, lets a worker work, and prints what arrived, by name. */
import { metrics } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { createHealthHandler, createNodeRuntime } from '../../../dist/node.js';

const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));

const runtime = await createNodeRuntime({ home: process.argv[2] });
const handler = createHealthHandler(runtime);
await runtime.startWorker({ untilIdle: true }).ended;
await reader.forceFlush();
const told = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics));
const text = await (await handler(new Request('http://localhost/metrics'))).text();
console.log(JSON.stringify({ names: told.map(({ descriptor }) => descriptor.name), text }));
await runtime.shutdown();
