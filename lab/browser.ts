import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Failure } from '../lib/base/errors/failure.ts';
import { run } from '../lib/host/command.ts';

const BROWSERS = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'];
/** The distribution's smallest one. */
export const BROWSER_PACKAGE = 'chromium-headless-shell';
const SHOWN_MS = 60_000;

/** For root, whom Chromium's sandbox does not take: the pages are this project's own. */
export const BROWSER_ARGUMENTS = ['--no-sandbox', '--disable-dev-shm-usage'] as const;

/** The path of an installed browser. */
export function findBrowser(): string | undefined {
  for (const folder of [...(process.env.PATH ?? '').split(delimiter), '/usr/bin']) {
    for (const name of BROWSERS) if (existsSync(join(folder, name))) return join(folder, name);
  }
  return undefined;
}

/** @throws Failure (usage) */
export function requireBrowser(): string {
  const found = findBrowser();
  if (found !== undefined) return found;
  throw new Failure('usage', 'there is no Chromium', {
    fix: `Install the package ${BROWSER_PACKAGE}.`,
  });
}

/** Writes how a page in a file looks on a phone, a PNG. */
export async function photographPage(
  page: string,
  file: string,
  signal: AbortSignal,
): Promise<void> {
  const phone = ['--hide-scrollbars', '--window-size=390,800', `--screenshot=${file}`];
  const args = ['--headless', ...BROWSER_ARGUMENTS, ...phone, pathToFileURL(page).href];
  await run(requireBrowser(), args, { signal, deadlineMs: SHOWN_MS });
}
