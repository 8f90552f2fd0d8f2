import { describe, expect, it } from 'vitest';
import { aliasesOf, parseMounts } from '../../../src/adapters/git/processes-inside.ts';
import type { Mount } from '../../../src/adapters/git/processes-inside.ts';

const mount = (device: string, root: string, point: string): Mount => ({ device, root, point });
const here = [mount('8:1', '/', '/'), mount('8:2', '/@data', '/data')];

describe('a folder', () => {
  it.each<readonly [what: string, there: readonly Mount[], aliases: readonly string[]]>([
    ['as it is', here, []],
    ['by a mount of itself', [...here, mount('8:2', '/@data/w/x', '/mnt')], ['/mnt']],
    ['by a mount of a folder around it', [...here, mount('8:2', '/@data/w', '/mnt')], ['/mnt/x']],
    ['by a mount of a folder in it', [...here, mount('8:2', '/@data/w/x/src', '/mnt')], ['/mnt']],
    ['as the root of a container', [mount('8:2', '/@data/w/x', '/')], ['/']],
    ['not by a mount of its neighbor', [...here, mount('8:2', '/@data/w/xy', '/mnt')], []],
    ['not by the same path of another disk', [mount('8:3', '/@data/w/x', '/mnt')], []],
  ])('is reached %s', (_, there, aliases) => {
    expect(aliasesOf('/data/w/x', here, there)).toEqual(aliases);
  });

  it('on the root of a disk is reached by what is mounted elsewhere', () => {
    expect(aliasesOf('/w', [mount('8:1', '/', '/')], [mount('8:1', '/w', '/mnt'), mount('8:1', '/', '/host')])).toEqual(
      ['/mnt', '/host/w'],
    );
  });
});

describe('the table of mounts', () => {
  it('is read with blanks in its paths', () => {
    expect(parseMounts('36 35 98:0 /a\\040b /mnt\\0402 rw master:1 - ext3 /dev/root rw\n')).toEqual([
      { device: '98:0', root: '/a b', point: '/mnt 2' },
    ]);
  });
});
