/** Light or dark theme: that of the system, or the one chosen here. */
import { useEffect, useState } from 'react';

const KEPT = 'cairn.theme';
type Theme = 'system' | 'light' | 'dark';
const NEXT: Readonly<Record<Theme, Theme>> = { system: 'dark', dark: 'light', light: 'system' };
const MARKS: Readonly<Record<Theme, string>> = { system: '◐', dark: '☾', light: '☀' };

export function ThemeSwitch() {
  const [theme, setTheme] = useState<Theme>(() => {
    const stored = localStorage.getItem(KEPT);
    return stored === 'light' || stored === 'dark' ? stored : 'system';
  });
  useEffect(() => {
    localStorage.setItem(KEPT, theme);
    if (theme === 'system') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
  }, [theme]);
  return (
    <button
      type="button"
      className="plain"
      onClick={() => setTheme(NEXT[theme])}
      aria-label={`Colours: ${theme}`}
    >
      {MARKS[theme]}
    </button>
  );
}
