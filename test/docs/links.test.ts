import { existsSync, readdirSync } from 'node:fs';
import { join, posix } from 'node:path';
import { expect, test } from '@jest/globals';
import { readDocument } from './snippets.ts';

const ROOT = join(import.meta.dirname, '../..');
const documents = [
  ...['README.md', 'ARCHITECTURE.md', 'CHANGELOG.md', 'SECURITY.md', 'packages/local/FIDELITY.md'],
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/** The document without code, in which brackets mean something else. */
function proseOf(document: string): string {
  return readDocument(document)
    .replace(/^```[\s\S]*?^```/gm, '')
    .replace(/`[^`\n]*`(?!\])/g, '');
}

/** Heading anchors as GitHub generates them. */
function anchorsOf(document: string): string[] {
  const headings = readDocument(document)
    .replace(/^```[\s\S]*?^```/gm, '')
    .matchAll(/^#+ (.*)$/gm);
  return [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

test.each(documents)('every link in %s has a target', (document) => {
  const links = [...proseOf(document).matchAll(/(?:\]\(|(?:src|srcset|href)=")([^)"\s]+)/g)].map(
    ([, link = '']) => link,
  );
  const broken = links
    .filter((link) => !/^[a-z]+:/.test(link))
    .filter((link) => {
      const [path = '', anchor] = link.split('#');
      const target = path === '' ? document : posix.join(posix.dirname(document), path);
      if (!existsSync(join(ROOT, target))) return true;
      return anchor !== undefined && !anchorsOf(target).includes(anchor);
    });
  expect(broken).toEqual([]);
});

test('every page is reached from the readme, or from the list of pages that it names', () => {
  const linked = ['README.md', 'docs/README.md'].flatMap((document) =>
    [...proseOf(document).matchAll(/\]\(([^)#\s]+)/g)].map(([, link = '']) =>
      posix.join(posix.dirname(document), link),
    ),
  );
  expect(documents.filter((document) => document !== 'README.md' && !linked.includes(document))).toEqual([]);
});

test('the pages have links', () => {
  expect(documents.flatMap((document) => proseOf(document).match(/\]\(/g) ?? []).length).toBeGreaterThan(20);
});
