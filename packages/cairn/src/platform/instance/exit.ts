/** Ends this process. Kept when the functions are loaded, because a body may replace `process.exit`. */
export const exit: (code: number) => never = process.exit.bind(process);
