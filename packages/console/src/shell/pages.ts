/** Pages in the navigation. */
export const PAGES = [
  { path: '/runs', name: 'Runs', letter: 'r' },
  { path: '/inbox', name: 'Inbox', letter: 'i' },
  { path: '/workflows', name: 'Workflows', letter: 'w' },
  { path: '/schedules', name: 'Schedules', letter: 's' },
  { path: '/health', name: 'Health', letter: 'h' },
] as const;

/** Keys that follow `g`. */
export const GO_KEYS = PAGES.map(({ letter, name }) => [letter, `go to ${name}`] as const);
