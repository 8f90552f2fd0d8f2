/** Circles of imports: files of which each is made of all the others, so that a reader can begin with none. */

/** What each file imports, by path. */
export type ImportGraph = ReadonlyMap<string, ReadonlySet<string>>;

/** For every set of files that reach one another, a shortest circle through the first of them by name. */
export function circlesIn(graph: ImportGraph): readonly (readonly [string, ...string[]])[] {
  return knotsIn(graph).map((knot) => {
    const [first] = knot.toSorted();
    if (first === undefined) throw new Error('a knot has a file');
    return shortestCircle(first, graph);
  });
}

/** The strongly connected components that hold a circle, by the algorithm of Tarjan. */
function knotsIn(graph: ImportGraph): string[][] {
  const order = new Map<string, number>();
  const open: string[] = [];
  const isOpen = new Set<string>();
  const knots: string[][] = [];
  const visit = (file: string): number => {
    const own = order.size;
    let low = own;
    order.set(file, own);
    open.push(file);
    isOpen.add(file);
    for (const target of graph.get(file) ?? []) {
      if (!order.has(target)) low = Math.min(low, visit(target));
      else if (isOpen.has(target)) low = Math.min(low, order.get(target) ?? low);
    }
    if (low < own) return low;
    const knot = open.splice(open.indexOf(file));
    for (const each of knot) isOpen.delete(each);
    if (knot.length > 1 || graph.get(file)?.has(file) === true) knots.push(knot);
    return low;
  };
  for (const file of graph.keys()) if (!order.has(file)) visit(file);
  return knots;
}

function shortestCircle(start: string, graph: ImportGraph): readonly [string, ...string[]] {
  const cameFrom = new Map<string, string>();
  const waiting = [start];
  for (const file of waiting) {
    for (const target of graph.get(file) ?? []) {
      if (target === start) {
        const way = [file];
        for (let at = file; at !== start;) {
          at = cameFrom.get(at) ?? start;
          way.unshift(at);
        }
        return [start, ...way.slice(1)];
      }
      if (cameFrom.has(target)) continue;
      cameFrom.set(target, file);
      waiting.push(target);
    }
  }
  throw new Error(`${start} is in no circle`);
}
