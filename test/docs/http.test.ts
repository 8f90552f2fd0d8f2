/** The page about HTTP has the routes as they are: `npx vitest run test/docs/http.test.ts --update`. */
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openApi } from '../../src/adapters/http-handler/openapi.ts';
import { routes } from '../../src/adapters/http-handler/routes.ts';
import { checkout, readPage } from './pages.ts';

const PAGE = 'docs/http.md';
const TABLE = /<!-- routes -->[^]*<!-- \/routes -->/;

it('lists every route with what it does and what a caller may have to be allowed', async () => {
  const rows = routes.map(
    ({ method, path, action, summary }) => `| \`${method} ${path}\` | ${summary} | \`${action}\` |`,
  );
  const table = ['<!-- routes -->', '| route | what it does | action |', '|---|---|---|', ...rows, '<!-- /routes -->'];
  await expect(readPage(PAGE).replace(TABLE, () => table.join('\n'))).toMatchFileSnapshot(join(checkout, PAGE));
});

it('has a document whose references lead somewhere, with a schema for every body', () => {
  const text = JSON.stringify(openApi(routes, '/agent'));
  expect(text).not.toContain('$ref');
  const { paths } = JSON.parse(text) as {
    readonly paths: Readonly<
      Record<string, Readonly<Record<string, { readonly operationId: string; readonly requestBody?: unknown }>>>
    >;
  };
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  expect(operations).toHaveLength(routes.length);
  expect(new Set(operations.map(({ operationId }) => operationId)).size).toBe(routes.length);
  expect(operations.filter(({ requestBody }) => requestBody !== undefined)).toHaveLength(
    routes.filter(({ body }) => body !== undefined).length,
  );
});
