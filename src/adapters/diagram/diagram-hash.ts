/** What a picture is known by: the chart that it shows, and the version of how charts are drawn. */
import { createHash } from 'node:crypto';
import { canonicalJson } from '../../machines/canonical-json.ts';
import type { ChartDescription } from '../../machines/inspection/chart-description.ts';

/**
 * Counted up whenever the same chart is drawn differently, by us or by another version of ELK: a test of the drawn
 * bytes says when.
 */
export const DRAWING_VERSION = 3;

/** Enough of the picture to find its hash in: it stands at the very start. */
const HEAD = 2000;
const WRITTEN = /^<svg[^>]* data-diagram="([0-9a-f]{64})"/;

/**
 * As hexadecimal digits, without drawing anything: the same as in the picture that `renderChart` draws of the chart.
 */
export function diagramHash(description: ChartDescription): string {
  return sha256Of(canonicalJson({ drawing: DRAWING_VERSION, description }));
}

/** The hash of the chart that a picture was drawn of; undefined for what is no picture of ours. */
export function diagramHashIn(svg: string): string | undefined {
  return WRITTEN.exec(svg.slice(0, HEAD))?.[1];
}

export function sha256Of(content: string): string {
  return createHash('sha256').update(content).digest('hex');
}
