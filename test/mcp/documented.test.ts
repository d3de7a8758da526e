import { expect, test } from '@jest/globals';
import { MAX_ANSWER_CHARS } from '../../packages/mcp/src/bounded.ts';
import { TOKEN_LIFE_MS } from '../../packages/mcp/src/seal.ts';
import { VERSION } from '../../packages/mcp/src/server.ts';
import { TOOLS } from '../../packages/mcp/src/tools/all.ts';
import { MAX_LISTED } from '../../packages/mcp/src/tools/arguments.ts';
import { readDocument } from '../docs/snippets.ts';

const page = readDocument('docs/mcp.md');

test('clients receive the version of the package', () => {
  const { version } = JSON.parse(readDocument('packages/mcp/package.json')) as { readonly version: string };
  expect(VERSION).toBe(version);
});

test('docs list each tool with its limits', () => {
  const [, section = ''] = /## Tools\n([\s\S]*?)\n## /.exec(page) ?? [];
  const named = [...section.matchAll(/^\| (`.*?) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name),
  );
  expect(named.toSorted()).toEqual(TOOLS.map(({ name }) => name).toSorted());
  expect(page).toContain(`at most ${MAX_LISTED} items`);
  expect(page).toContain(`at most ${MAX_ANSWER_CHARS.toLocaleString('en')} characters`);
  expect(page).toContain(`older than ${TOKEN_LIFE_MS / 60_000} minutes`);
});
