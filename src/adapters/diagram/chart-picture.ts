/** Draws one chart: plans it, lays it out, draws it; as a list where there is no layout. */
import type { ChartDescription } from '../../machines/inspection/chart-description.ts';
import type { DiagramPlan, Marks } from './diagram-plan.ts';
import { drawChart } from './draw-chart.ts';
import type { Drawn, Heading } from './draw-chart.ts';
import { drawList } from './draw-list.ts';
import { drawingOf } from './drawing.ts';
import { AMPLE_LAYOUT_MS, layOut } from './elk-layout.ts';
import type { LayoutTime } from './elk-thread.ts';
import { MARGIN, PAGE_WIDTH } from './metrics.ts';
import type { PlacedDiagram } from './placed-diagram.ts';
import { planChart } from './plan-chart.ts';
import { halfOf, unionOf } from './shared-layout.ts';
import type { Theme } from './theme.ts';
import { otherwiseOf } from './wording.ts';

/**
 * Beyond these a picture is thousands of pixels wide and shows nothing that a list does not show better, and its layout
 * takes from many seconds to a minute.
 */
const MOST_DRAWN = { states: 200, transitions: 400 } as const;

/** With more nodes and edges than this no picture fits a page, and a second layout would only take long. */
const MANY_PARTS = 220;

export type Layout = (plan: DiagramPlan, time: LayoutTime) => Promise<PlacedDiagram | undefined>;

export interface Version {
  readonly description: ChartDescription;
  readonly marks: Marks;
}

export interface ChartPicture {
  readonly description: ChartDescription;
  readonly theme: Theme;
  readonly active: ReadonlySet<string>;
  readonly marks: Marks;
  readonly heading: Heading | undefined;
  /** Another version of the chart: what is in both stands where it stands in the picture of that one. */
  readonly beside?: Version | undefined;
  /** What lays out; ELK, unless a test says otherwise. */
  readonly layout?: Layout | undefined;
  /** How long it may take to lay it out; ample time where absent. */
  readonly layoutMs?: number | undefined;
}

/** Pixels, of a line of text. */
const WIDEST_IN_LIST = 480;

/** Never rejects on account of the layout. */
export async function drawPicture({
  description,
  heading,
  beside,
  layout = layOut,
  layoutMs = AMPLE_LAYOUT_MS,
  ...style
}: ChartPicture): Promise<Drawn> {
  const drawing = drawingOf(description, style);
  const list = (because: string): Drawn =>
    drawList(description, {
      drawing,
      heading,
      because,
      wording: { marks: style.marks, otherwise: otherwiseOf(description.transitions), widestRow: WIDEST_IN_LIST },
    });
  if (description.states.length - 1 > MOST_DRAWN.states || description.transitions.length > MOST_DRAWN.transitions)
    return list('the chart is too big for a picture');
  const own: Version = { description, marks: style.marks };
  const inTime = timed(layout, layoutMs);
  const shared = beside === undefined ? undefined : await narrowest(own, sharing(inTime, beside));
  const placed = shared ?? (await narrowest(own, inTime));
  return placed === undefined ? list('no layout was found for the chart') : drawChart(placed, drawing, heading);
}

type TimedLayout = (plan: DiagramPlan) => Promise<PlacedDiagram | undefined>;

/** All layouts of a picture share its time. */
function timed(layout: Layout, layoutMs: number): TimedLayout {
  const time = { leftMs: layoutMs };
  return (plan) => layout(plan, time);
}

/** Lays out both versions at once, and takes from that what is in the plan. */
function sharing(layout: TimedLayout, { description, marks }: Version): TimedLayout {
  return async (plan) => {
    const placed = await layout(unionOf(plan, planChart(description, { marks, isTight: plan.isTight })));
    return placed === undefined ? undefined : halfOf(placed, plan);
  };
}

/** With room where that fits a page, else as narrow as it gets. */
async function narrowest({ description, marks }: Version, layout: TimedLayout): Promise<PlacedDiagram | undefined> {
  let best: PlacedDiagram | undefined;
  for (const isTight of [false, true]) {
    const plan = planChart(description, { marks, isTight });
    const placed = await settled(layout, plan);
    if (placed !== undefined && (best === undefined || placed.width < best.width)) best = placed;
    if (
      best !== undefined &&
      (best.width + 2 * MARGIN <= PAGE_WIDTH || plan.nodes.length + plan.edges.length > MANY_PARTS)
    )
      return best;
  }
  return best;
}

async function settled(layout: TimedLayout, plan: DiagramPlan): Promise<PlacedDiagram | undefined> {
  try {
    return await layout(plan);
  } catch {
    return undefined;
  }
}
