/** Height of the README in a browser, with the width and fonts of a repository's page on GitHub. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { launchChromium } from '../../bench/console/chromium.ts';
import { readDocument } from './snippets.ts';

const SCREEN = { width: 1_920, height: 1_080 };
const COLUMN_PX = 838;
/** DejaVu Sans, which CI installs, is an eighth wider than the fonts of GitHub's pages, which most machines of CI lack. */
const STYLE = `
  @font-face { font-family: "As on GitHub"; src: local("DejaVu Sans"), local("DejaVuSans"); size-adjust: 88% }
  @font-face { font-family: "As on GitHub"; font-weight: bold; src: local("DejaVu Sans Bold"), local("DejaVuSans-Bold"); size-adjust: 88% }
  body { margin: 0; width: ${COLUMN_PX}px; font: 16px/1.5 "As on GitHub", Helvetica, Arial, sans-serif }
  h1, h2 { margin: 24px 0 16px; padding-bottom: .3em; border-bottom: 1px solid; line-height: 1.25 }
  h1 { margin-top: 0; font-size: 2em }
  h2 { font-size: 1.5em }
  p, pre { margin: 0 0 16px }
  pre, code { font: 13.6px/1.45 "DejaVu Sans Mono", monospace }
  pre { padding: 16px; overflow: auto }
  code { padding: .2em .4em }
  svg { display: block }
`;

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

/** Links and code of a paragraph; an image is the picture itself. */
function inline(text: string): string {
  return escaped(text)
    .replaceAll(/!\[[^\]]*\]\(([^)]+)\)/g, (_, path: string) => readFileSync(join(ROOT, path), 'utf8'))
    .replaceAll(/`([^`]+)`/g, '<code>$1</code>')
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '<a href="#">$1</a>')
    .replaceAll(/\*\*([^*]+)\*\*/g, '<b>$1</b>');
}

const ROOT = join(import.meta.dirname, '../..');

/** Converts the Markdown of the README: headings, paragraphs and code. */
function htmlOf(markdown: string): string {
  const parts = markdown.replaceAll(/<!--.*?-->\n?/gs, '').split(/^(```[\s\S]*?^```)$/m);
  const blocks = parts.flatMap((part) => {
    if (part.startsWith('```'))
      return [`<pre>${escaped(part.replace(/^.*\n/, '').replace(/\n```$/, ''))}</pre>`];
    return part.split(/\n{2,}/).flatMap((block) => {
      const [, marks, title] = /^(#+) (.*)$/.exec(block.trim()) ?? [];
      if (marks !== undefined) return [`<h${marks.length}>${inline(title ?? '')}</h${marks.length}>`];
      return block.trim() === '' ? [] : [`<p>${inline(block.trim())}</p>`];
    });
  });
  return `<!doctype html><meta charset="utf-8"><style>${STYLE}</style>${blocks.join('')}`;
}

test('the README is at most a screen and a half, and its code needs no horizontal scrolling', async () => {
  const markdown = readDocument('README.md');
  expect(markdown).not.toMatch(/^(?:[*-] |\d+\. |\|)/m);
  const browser = await launchChromium();
  try {
    const page = await browser.newPage({ viewport: SCREEN });
    await page.setContent(htmlOf(markdown));
    const height = await page.evaluate<number>('document.body.scrollHeight');
    expect(height).toBeGreaterThan(SCREEN.height);
    expect(height / SCREEN.height).toBeLessThanOrEqual(1.5);
    const widths = await page.evaluate<number[]>(
      "[...document.querySelectorAll('pre')].map((pre) => pre.scrollWidth)",
    );
    expect(Math.max(...widths)).toBeLessThanOrEqual(COLUMN_PX);
  } finally {
    await browser.close();
  }
});
