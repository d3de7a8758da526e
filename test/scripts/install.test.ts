import { expect, test } from '@jest/globals';

// Plain JS, since it runs before anything is installed.
const url = new URL('../../scripts/install.mjs', import.meta.url);
const { installedText, installText } = (await import(url.href)) as {
  installText(of: { there: number; of: number; seconds: number }): string;
  installedText(there: number, seconds: number): string;
};

test('the installation prints the progress of npm, also after the last package is unpacked', () => {
  const at = (there: number) => installText({ there, of: 683, seconds: 42 });
  expect(at(100)).toBe('cairn: installing dependencies (once): 100 of 683 packages, 42 s');
  expect(at(683)).toBe('cairn: installing dependencies (once): npm runs install scripts, 42 s');
  expect(installedText(683, 55)).toBe('cairn: 683 packages installed in 55 s');
});

test('its lines fit 80 columns: a longer one would not be overwritten', () => {
  for (const there of [0, 9_998, 9_999])
    expect(installText({ there, of: 9_999, seconds: 999 }).length).toBeLessThan(80);
});
