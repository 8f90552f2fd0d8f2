/** Checks of SVG text that need no browser. */

/** Complaints about markup that is not well formed; none where it is. */
export function markupFaults(svg: string): string[] {
  const open: string[] = [];
  const faults: string[] = [];
  const tags = /<(\/?)([A-Za-z][\w-]*)((?:\s+[\w:-]+="[^"<]*")*)\s*(\/?)>|<|&(?!(?:amp|lt|gt|quot|#\d+);)/g;
  for (const [whole, closing, name, , empty] of svg.matchAll(tags)) {
    if (name === undefined) faults.push(`"${whole}" stands where it may not`);
    else if (closing === '/') {
      const last = open.pop();
      if (last !== name) faults.push(`</${name}> closes <${String(last)}>`);
    } else if (empty !== '/') open.push(name);
  }
  return [...faults, ...open.map((name) => `<${name}> is never closed`)];
}

export function valuesOf(svg: string, attribute: string): string[] {
  return [...svg.matchAll(new RegExp(` ${attribute}="([^"]*)"`, 'g'))].map(([, value = '']) => value);
}
