/**
 * The line that says how far the first installation is. Once all packages are unpacked npm is not done: it links commands and runs the
 * install scripts of packages, which takes ten seconds and more.
 */
export function installText({ there, of, seconds }) {
  const now = there < of ? `${there} of ${of} packages` : 'npm runs install scripts';
  return `cairn: installing dependencies (once): ${now}, ${seconds} s`;
}

export function installedText(there, seconds) {
  return `cairn: ${there} packages installed in ${seconds} s`;
}
