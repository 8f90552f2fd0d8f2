import { metrics } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { afterEach, describe, expect, it } from 'vitest';
import { createOpenTelemetry } from '../../../src/adapters/opentelemetry/open-telemetry.ts';

afterEach(() => metrics.disable());

const changes = [
  { metric: 'wakechart_tokens_total', labels: { provider: 'google', model: 'gemini', type: 'input' }, value: 7 },
  { metric: 'wakechart_wake_duration_seconds', labels: { agent: 'tester' }, value: 3 },
] as const;

describe('the numbers of a runtime', () => {
  it('reach whatever provider the program has registered, by the names of the conventions', async () => {
    const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
    const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
    metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
    const telemetry = createOpenTelemetry();
    telemetry.meter?.readFrom(async () => [{ metric: 'wakechart_due_sessions', labels: {}, value: 5 }]);
    telemetry.meter?.add(changes);
    const told = async (): Promise<Record<string, readonly unknown[]>> => {
      await reader.forceFlush();
      const all =
        exporter
          .getMetrics()
          .at(-1)
          ?.scopeMetrics.flatMap((scope) => scope.metrics) ?? [];
      return Object.fromEntries(
        all.map(({ descriptor, dataPoints }) => [
          descriptor.name,
          dataPoints.map(({ attributes, value }) => ({ attributes, value })),
        ]),
      );
    };
    await expect.poll(told).toMatchObject({
      'wakechart.tokens': [
        {
          attributes: {
            'gen_ai.provider.name': 'gcp.gemini',
            'gen_ai.request.model': 'gemini',
            'wakechart.type': 'input',
          },
          value: 7,
        },
      ],
      'wakechart.wake_duration': [{ attributes: { 'gen_ai.agent.name': 'tester' }, value: { count: 1, sum: 3 } }],
      'wakechart.due_sessions': [{ attributes: {}, value: 5 }],
    });
    await telemetry.close();
  });

  it('are not asked for where no provider is registered', () => {
    expect(createOpenTelemetry().meter?.isOn()).toBe(false);
  });
});
