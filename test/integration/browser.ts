/** A real browser for the pages that this project writes: they need neither scripts nor a network. */
import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import puppeteer, { type Page } from 'puppeteer-core';
import { z } from 'zod';
import { BROWSER_ARGUMENTS, BROWSER_PACKAGE, findBrowser } from '../../lab/browser.ts';
import { installPackages } from '../../lab/components/debian-packages.ts';

export const WIDTHS = { wide: 1280, phone: 390 } as const;
const signal = AbortSignal.timeout(15 * 60_000);

/** An installed browser, otherwise the distribution's smallest one. */
async function ensureBrowser(): Promise<string | undefined> {
  const found = findBrowser();
  if (found !== undefined) return found;
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return undefined;
  await installPackages([BROWSER_PACKAGE], signal);
  return findBrowser();
}

const browserPath = await ensureBrowser();
/** Why there is none. */
export const noBrowser =
  browserPath === undefined ? 'no Chromium, and no root with apt-get to install it' : false;

interface Visit {
  readonly page: Page;
  /** Errors and requests that a page working offline and without scripts never causes. */
  readonly complaints: string[];
  readonly requests: string[];
}

/** Opens a file. */
export async function withPage(path: string, look: (visit: Visit) => Promise<void>): Promise<void> {
  const browser = await puppeteer.launch({
    executablePath: browserPath ?? '',
    headless: 'shell',
    args: [...BROWSER_ARGUMENTS],
    timeout: 60_000,
  });
  try {
    const page = await browser.newPage();
    page.setDefaultTimeout(30_000);
    await page.setOfflineMode(true);
    const [complaints, requests]: [string[], string[]] = [[], []];
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('dialog', (dialog) => complaints.push(`a dialog: ${dialog.message()}`));
    page.on('request', (request) => requests.push(request.url()));
    await page.goto(pathToFileURL(path).href);
    await look({ page, complaints, requests });
  } finally {
    await browser.close();
  }
}

const box = z.object({ width: z.number(), height: z.number() });
export const measured = z.object({
  overflow: z.number(),
  verdictEnd: z.number(),
  background: z.string(),
  sections: z.record(z.string(), box),
});

/** Runs in the page; a string, since this project's types do not include the DOM. */
export const MEASURE = `({
  overflow: document.documentElement.scrollWidth - innerWidth,
  verdictEnd: scrollY + document.querySelector('.verdict').getBoundingClientRect().bottom,
  background: getComputedStyle(document.body).backgroundColor,
  sections: Object.fromEntries([...document.querySelectorAll('section')].map((section) => {
    const { width, height } = section.getBoundingClientRect();
    return [section.id, { width, height }];
  })),
})`;
