import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import puppeteer, { type Page } from 'puppeteer-core';
import { installPackages } from '../../lab/components/debian-packages.ts';

const BROWSERS = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];
const PACKAGE = 'chromium-headless-shell';
const signal = AbortSignal.timeout(15 * 60_000);

async function findBrowser(): Promise<string | undefined> {
  for (const folder of [...(process.env.PATH ?? '').split(delimiter), '/usr/bin']) {
    for (const name of BROWSERS) if (existsSync(join(folder, name))) return join(folder, name);
  }
  return undefined;
}

/** An installed browser, otherwise the distribution's smallest one. */
async function ensureBrowser(): Promise<string | undefined> {
  const found = await findBrowser();
  if (found !== undefined) return found;
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return undefined;
  await installPackages([PACKAGE], signal);
  return findBrowser();
}

const browserPath = await ensureBrowser();
/** Why pages are not shown here; false: they are. */
export const skip =
  browserPath === undefined ? 'no Chromium, and no root with apt-get to install it' : false;

export interface Visit {
  readonly page: Page;
  /** Errors and requests that a page working offline and without scripts never causes. */
  readonly complaints: string[];
  readonly requests: string[];
}

/** A page of a file, without a network. */
export async function withPage(file: string, look: (visit: Visit) => Promise<void>): Promise<void> {
  const browser = await puppeteer.launch({
    executablePath: browserPath ?? '',
    headless: 'shell',
    // Chromium's sandbox does not work for root; the page is this project's own.
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
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
    await page.goto(pathToFileURL(file).href);
    await look({ page, complaints, requests });
  } finally {
    await browser.close();
  }
}
