import { expect, test } from '@jest/globals';
import { DISABLED_FEATURES, launchChromium } from '../../bench/console/chromium.ts';

const SWITCH = '--disable-features=';

test('the browser has off what Playwright switches off, and does not load the pop-ups of its address bar', async () => {
  const browser = await launchChromium();
  try {
    const session = await browser.newBrowserCDPSession();
    const { commandLine } = await session.send('SystemInfo.getInfo');
    const lists = commandLine.split(' ').filter((argument) => argument.startsWith(SWITCH));
    const [playwrights = [], effective] = lists.map((list) => list.slice(SWITCH.length).split(','));
    expect(playwrights.length).toBeGreaterThan(0);
    expect(DISABLED_FEATURES).toEqual(expect.arrayContaining(playwrights));
    expect(effective).toEqual(DISABLED_FEATURES);

    await (await browser.newPage()).goto('data:text/html,page');
    const { targetInfos } = await session.send('Target.getTargets', { filter: [{}] });
    expect(targetInfos.filter(({ url }) => url.includes('omnibox'))).toEqual([]);
  } finally {
    await browser.close();
  }
});
