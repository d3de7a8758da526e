/** The causes of an error of firebase-tools, which prints only the message of the error and those of its children. Pure. */

const FORBIDDEN = 403;
/** Answers with this status that say themselves what to do: an API that is off, or a project without billing. */
const OTHER_CAUSES = /has not been used in project|is disabled|billing/i;

/** @returns messages of the errors below this one that firebase-tools has not printed, without repetitions */
function causesOf(error) {
  const { message, children = [], original } = error;
  const printed = [message, ...children.map((child) => child.message)];
  return [...new Set(chainOf(original).map((one) => one.message))].filter((one) => !printed.includes(one));
}

/** True if the caller lacks a permission. */
function isForbidden(error) {
  return everythingBelow(error).some(
    ({ status, message }) => status === FORBIDDEN && !OTHER_CAUSES.test(message),
  );
}

const chainOf = (error) => (error ? [error, ...chainOf(error.original)] : []);

const everythingBelow = (error) => [
  error,
  ...[error.original, ...(error.children ?? [])].filter(Boolean).flatMap(everythingBelow),
];

module.exports = { causesOf, isForbidden };
