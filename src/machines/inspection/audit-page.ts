/** An audit as a page of Markdown, for a reader who has never seen the code. The same audit gives the same bytes. */
import { RULE_MEANINGS } from './audit-rules.ts';
import { AUDIT_RULES } from './chart-audit.ts';
import type { AuditRule, ChartAudit, Finding, MatrixCell, StateReach } from './chart-audit.ts';
import { ROOT } from './chart-states.ts';
import type { ChartDescription, ChartInvocation, ChartTransition } from './chart-description.ts';
import { cell, code, counted, listed, table } from './markdown.ts';

/** Wider matrices are cut into several, each with all the states. */
const EVENTS_PER_MATRIX = 7;

/** The heading of the page, and the text of links to it. */
function auditTitle({ about, chart }: Pick<ChartAudit, 'about' | 'chart'>): string {
  return about === undefined ? `The chart ${chart.id}` : `The life of ${about}`;
}

/** The whole page of one chart. The diagram is the file `<id>.svg` beside it. */
export function auditPage(audit: ChartAudit): string {
  const sections = [
    head(audit),
    statesSection(audit),
    eventsSection(audit),
    matrixSection(audit),
    reachSection(audit),
    findingsSection(audit),
    transitionsSection(audit),
    workSection(audit),
    namesSection('Guards', 'What has to hold for a transition to be taken.', {
      chart: audit.chart,
      names: audit.guards,
    }),
    namesSection('Actions', 'What is done when a transition is taken, or a state entered or left.', {
      chart: audit.chart,
      names: audit.actions,
    }),
  ];
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`;
}

/** The page that lists them all. */
export function auditIndex(audits: readonly ChartAudit[]): string {
  const rows = audits.map((audit) => {
    const { id } = audit.chart;
    const { leaves, events, transitions } = audit.counts;
    return [
      `[${cell(auditTitle(audit))}](${encodeURIComponent(id)}.md)`,
      code(id),
      String(leaves),
      String(events),
      String(transitions),
      findingsWord(audit.counts),
    ];
  });
  return [
    '# Audits of the charts',
    'Every lifecycle is a statechart, and each page says what that chart can do: its states and what holds in them, who sends which event, what every state does with every event, how each state is reached, and what an audit objects to. The pages are written from the machines by `wakechart audit --write`; `wakechart audit --check` fails when one of them is stale. [Charts](../charts.md) says how to read them, and how to audit charts of your own.',
    table(['Page', 'Chart', 'States', 'Events', 'Transitions', 'Findings'], rows),
    '',
  ]
    .join('\n\n')
    .replace(/\n+$/, '\n');
}

/** `2 errors, 1 note`, or `none`. */
export function findingsWord({ errors, warnings, notes, waived }: ChartAudit['counts']): string {
  const parts = [
    errors > 0 && counted(errors, 'error'),
    warnings > 0 && counted(warnings, 'warning'),
    notes > 0 && counted(notes, 'note'),
    waived > 0 && `${waived} waived`,
  ].filter((part) => part !== false);
  return parts.length === 0 ? 'none' : parts.join(', ');
}

function head(audit: ChartAudit): string {
  const { chart, counts } = audit;
  const title = auditTitle(audit);
  return [
    `# ${title}`,
    `<!-- Written by "wakechart audit --write". Change the chart, not this page. -->`,
    // A description that only repeats the heading says nothing.
    ...(chart.description === undefined || title.startsWith(chart.description.replace(/\.$/, ''))
      ? []
      : [chart.description]),
    `![${title}: its states and transitions](${encodeURIComponent(chart.id)}.svg)`,
    `The chart ${code(chart.id)} can be in ${counted(counts.leaves, 'state')}, knows ${counted(counts.events, 'event')} and has ${counted(counts.transitions, 'transition')}. Findings: ${findingsWord(counts)}.`,
  ].join('\n\n');
}

/** What a state is called on the page; the root has no path. */
function stateName(id: string): string {
  return id === ROOT ? 'the whole chart' : code(id);
}

function statesSection({ chart }: ChartAudit): string {
  const rows = chart.states
    .filter(({ id }) => id !== ROOT)
    .map(({ id, kind, initial, description = '', tags }) => {
      const isStart = chart.states.some((state) => state.initial === id && state.id === ROOT);
      const shape = kind === 'atomic' ? '' : kind === 'compound' ? `begins in ${code(initial ?? '')}` : kind;
      return [
        stateName(id),
        cell([isStart ? 'start' : '', shape, ...tags.map((tag) => `#${tag}`)].filter((part) => part !== '').join(', ')),
        cell(description),
      ];
    });
  return ['## States', table(['State', 'Kind', 'What holds'], rows)].join('\n\n');
}

function eventsSection({ chart }: ChartAudit): string {
  if (chart.events.length === 0) return '';
  const isDeclared = chart.events.some((event) => event.isDeclared);
  const rows = chart.events.map(({ type, kind, says = '', from = '', fields }) => [
    code(type),
    kind,
    cell(says),
    cell(from),
    fields.map(code).join(', '),
  ]);
  const intro = isDeclared
    ? 'A *command* asks for something, and must not be ignored unless a reason is given. A *fact* tells what has happened; where it changes nothing, it may be ignored.'
    : 'No registry says what these events mean and who sends them: they are what the chart mentions.';
  const all = table(['Event', 'Kind', 'Says', 'Sent by', 'Fields'], rows);
  return ['## Events', intro, all].join('\n\n');
}

function matrixSection(audit: ChartAudit): string {
  const { chart, matrix } = audit;
  const states = [...new Set(matrix.filter((each) => each.class !== 'final').map(({ state }) => state))];
  const events = [...new Set(matrix.map(({ event }) => event))];
  if (events.length === 0) return '';
  const byPlace = new Map(matrix.map((each) => [`${each.state}|${each.event}`, each]));
  const byId = new Map(chart.transitions.map((transition) => [transition.id, transition]));
  const parts = chunksOf(events, EVENTS_PER_MATRIX).map((some) =>
    table(
      ['State', ...some.map(code)],
      states.map((state) => [stateName(state), ...some.map((event) => markOf(byPlace.get(`${state}|${event}`), byId))]),
    ),
  );
  return ['## What each state does with each event', legendOf(audit), ...parts].join('\n\n');
}

function legendOf({ matrix, chart }: ChartAudit): string {
  const used = new Set(matrix.map((each) => each.class));
  const isTaken = used.has('handled') || used.has('conditional');
  const isChosen = matrix.some(({ transitions }) => transitions.length > 1);
  const { because } = chart.unhandled;
  const open = new Set(matrix.filter((each) => each.class !== 'final').map(({ state }) => state));
  const ends = [...new Set(matrix.map(({ state }) => state))].filter((state) => !open.has(state)).map(stateName);
  const words = [
    isTaken && 'a name: the event leads to that state',
    isTaken &&
      matrix.some(({ inheritedFrom }) => inheritedFrom !== undefined) &&
      '*in italics*: an outer state takes it, for all states inside it',
    isTaken &&
      chart.transitions.some(({ targets, forbids }) => targets.length === 0 && !forbids) &&
      '`stays`: only actions run',
    isChosen && '`one / other`: guards decide between them, in this order',
    used.has('conditional') && '`?`: only where a guard allows it',
    used.has('forbidden') && '⊘: taken, and nothing happens, by decision',
    used.has('rejected') &&
      `×: refused by the code that drives the chart${because === undefined ? '' : `. ${because.replace(/\.$/, '')}`}`,
    used.has('ignored') && '·: ignored',
    matrix.some(({ beside = [], class: kind }) => kind === 'ignored' && beside.length > 0) &&
      '`·*`: ignored here, and a region beside it may take it',
  ].filter((word) => word !== false);
  const final = ends.length === 0 ? [] : ['', `Final, and therefore not in the table: ${ends.join(', ')}.`];
  return [...words.map((word) => `- ${cell(word)}`), ...final].join('\n');
}

function markOf(place: MatrixCell | undefined, transitions: ReadonlyMap<string, ChartTransition>): string {
  if (place === undefined) return '';
  switch (place.class) {
    case 'handled':
    case 'conditional': {
      const names = place.transitions.map((id) => leadsTo(transitions.get(id)));
      const shown = [...new Set(names)].join(' / ');
      const marked = place.class === 'conditional' ? `? ${shown}` : shown;
      return place.inheritedFrom === undefined ? marked : `*${marked}*`;
    }
    case 'forbidden':
      return '⊘';
    case 'rejected':
      return '×';
    case 'ignored':
      return place.beside === undefined ? '·' : '·*';
    case 'final':
      return '';
  }
}

function leadsTo(transition: ChartTransition | undefined): string {
  if (transition === undefined || transition.targets.length === 0) return 'stays';
  return transition.targets.map((target) => (target === ROOT ? 'the start' : target)).join(' + ');
}

function reachSection({ chart, reach }: ChartAudit): string {
  const leaves = reach.filter(({ state }) => state !== ROOT && !chart.states.some(({ parent }) => parent === state));
  if (leaves.length === 0) return '';
  const rows = leaves.map((each) => [stateName(each.state), wayTo(each)]);
  const steps = leaves.flatMap(({ path }) => path);
  const words = [
    steps.some((step) => /^(done|error)\(/.test(step)) &&
      '`done(x)` and `error(x)`: the actor `x`, which runs in the state, has answered or failed',
    steps.some((step) => step.startsWith('after(')) && '`after(x)`: the time `x` has passed',
  ].filter((word) => word !== false);
  const legend = words.length === 0 ? [] : [`${words.join('; ')}.`];
  return [
    '## How each state is reached',
    'The shortest way from the start, tried on the machine itself.',
    ...legend,
    table(['State', 'Events'], rows),
  ].join('\n\n');
}

function wayTo({ reach, path, isPassed }: StateReach): string {
  if (reach === 'unreachable') return '**not reachable**';
  if (reach === 'structural') return 'transitions lead there; no events were found that do';
  const way = path.length === 0 ? 'here it starts' : path.map(code).join(' → ');
  return isPassed === true ? `${way}, and it is left at once` : way;
}

function findingsSection({ findings }: ChartAudit): string {
  if (findings.length === 0) return '';
  const open = findings.filter(({ waived }) => waived === undefined);
  const waived = findings.filter((finding) => finding.waived !== undefined);
  return [
    '## Findings',
    ...(open.length === 0
      ? []
      : [
          'What the audit objects to, or points out.',
          table(['Where', 'Rule', 'Weight', 'Finding'], open.map(openRow)),
        ]),
    ...(waived.length === 0
      ? []
      : [
          'Known, and let stand, for the reason that the chart gives.',
          ...AUDIT_RULES.flatMap((rule) =>
            waivedPart(
              rule,
              waived.filter((finding) => finding.rule === rule),
            ),
          ),
        ]),
  ].join('\n\n');
}

function openRow({ state, event, rule, severity, says, hint }: Finding): string[] {
  return [placeOf(state, event), code(rule), severity, cell(`${says} ${hint}`)];
}

/**
 * The findings of one rule, those of the same state and reason on one line. What a lost command means need not be said
 * for each.
 */
function waivedPart(rule: AuditRule, findings: readonly Finding[]): string[] {
  if (findings.length === 0) return [];
  const isSaidOnce = rule === 'ignored-command';
  const rows = new Map<string, { readonly first: Finding; readonly events: string[] }>();
  for (const finding of findings) {
    const key = JSON.stringify([finding.state, finding.waived, isSaidOnce ? '' : finding.says]);
    const row = rows.get(key) ?? { first: finding, events: [] };
    rows.set(key, row);
    if (finding.event !== undefined) row.events.push(code(finding.event));
  }
  const told = [...rows.values()].map(({ first, events }) => [
    stateName(first.state),
    events.join(', '),
    isSaidOnce ? '' : cell(first.says),
    cell(first.waived ?? ''),
  ]);
  return [`**${code(rule)}**: ${RULE_MEANINGS[rule]}`, table(['State', 'Event', 'Finding', 'Why it stands'], told)];
}

/** A state, and the event that it is about there. */
function placeOf(state: string, event: string | undefined): string {
  return event === undefined ? stateName(state) : `${stateName(state)} at ${code(event)}`;
}

function transitionsSection({ chart }: ChartAudit): string {
  if (chart.transitions.length === 0) return '';
  const rows = chart.transitions.map((transition) => {
    const { source, event, guard, actions, reenters } = transition;
    const target = transition.forbids ? 'nothing' : leadsTo(transition);
    const more = [
      guard === undefined ? '' : `if ${code(guard.name)}`,
      ...actions.map(({ name }) => `does ${code(name)}`),
      reenters ? 'entered anew' : '',
    ].filter((part) => part !== '');
    return [
      stateName(source),
      code(event),
      target === 'stays' || target === 'nothing' ? target : code(target),
      more.join(', '),
    ];
  });
  return [
    '## Transitions',
    'In the order in which they are tried.',
    table(['From', 'On', 'To', 'Condition, and what is done'], rows),
  ].join('\n\n');
}

/** What runs while the machine is in a state: timers and invoked actors. */
function workSection({ chart, timers, invokes }: ChartAudit): string {
  const led = new Map(chart.transitions.map((transition) => [transition.id, transition]));
  const waits = timers.map(({ state, delay, transition }) => [
    stateName(state),
    typeof delay === 'number' ? `${delay} ms` : code(delay),
    leadsTo(led.get(transition)),
  ]);
  const works = invokes.map(({ state, id, source, handlesDone, handlesError }) => [
    stateName(state),
    code(id),
    id === source ? '' : code(source),
    endings({ handlesDone, handlesError }),
  ]);
  const parts = [
    waits.length === 0 ? '' : ['## Timers', table(['State', 'After', 'Leads to'], waits)].join('\n\n'),
    works.length === 0
      ? ''
      : [
          '## Invoked actors',
          'Work that runs while the machine is in the state, and is stopped when it leaves.',
          table(['State', 'Actor', 'Source', 'Its endings'], works),
        ].join('\n\n'),
  ];
  return parts.filter((part) => part !== '').join('\n\n');
}

function endings({ handlesDone, handlesError }: Pick<ChartInvocation, 'handlesDone' | 'handlesError'>): string {
  if (handlesDone && handlesError) return 'both its answer and its error lead on';
  return handlesDone
    ? 'its answer leads on; **its error does not**'
    : handlesError
      ? 'its error leads on; its answer does not'
      : '**neither its answer nor its error leads on**';
}

function namesSection(
  heading: string,
  intro: string,
  {
    chart,
    names,
  }: {
    readonly chart: ChartDescription;
    readonly names: readonly { readonly name: string; readonly usedBy: readonly string[] }[];
  },
): string {
  if (names.length === 0) return '';
  const byId = new Map(chart.transitions.map((transition) => [transition.id, transition]));
  const placed = (id: string): string => {
    const transition = byId.get(id);
    return transition === undefined ? stateName(id) : placeOf(transition.source, transition.event);
  };
  return [
    `## ${heading}`,
    intro,
    table(
      ['Name', 'Used by'],
      names.map(({ name, usedBy }) => [code(name), listed([...new Set(usedBy.map(placed))])]),
    ),
  ].join('\n\n');
}

function chunksOf<Item>(items: readonly Item[], size: number): Item[][] {
  const count = Math.ceil(items.length / size);
  const even = Math.ceil(items.length / count);
  return Array.from({ length: count }, (_, index) => items.slice(index * even, (index + 1) * even));
}
