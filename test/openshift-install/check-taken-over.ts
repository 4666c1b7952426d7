import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { distinctCertificates } from '../../cli/take-over/replace-certificates.ts';
import { decodeDataUrl } from '../../lib/base/data-url.ts';
import { validityOf } from '../../lib/pki/certificate.ts';
import { type IgnitionConfig, parseConfig } from '../../lib/render/ignition/config.ts';
import { liveUnits } from '../../units/live.ts';
import { sno } from '../unit/cli/run-sno.ts';
import { ignitionIn } from './programs.ts';

const SHIPPING_DAYS = 60;
const VALIDATOR = '/usr/bin/ignition-validate';
/** They give the live image its kubelet, and are kept. */
const KEPT_SHELL = /\/(node-image-\w+|release-image|proxy)\.sh$/;

/** What is wrong with what `sno` makes of the config that the installer left in `from`. */
export async function takeOverFaults(
  from: string,
  to: string,
  executable: string,
): Promise<string[]> {
  await mkdir(to);
  const { code, err, out } = await sno([
    ...['create', 'single-node-ignition-config', '--from-ignition', from, '--dir', to],
    ...['--agents-executable', executable, '--shipping-days', `${SHIPPING_DAYS}`],
  ]);
  if (code !== 0) {
    const [head = '', ...lines] = err.split('\n');
    return lines.length === 0 ? [head] : lines.filter((line) => !/^\d+ errors?$/.test(line));
  }
  const config = parseConfig(await ignitionIn(to), to);
  if (existsSync(VALIDATOR)) {
    await execa(VALIDATOR, [join(to, 'bootstrap-in-place-for-live-iso.ign')]);
  }
  return [
    ...(out.includes('Not understood') ? ['something is not understood'] : []),
    ...(out.includes('cannot be signed again') ? ['a certificate is not signed again'] : []),
    ...(err.includes('Notice: not beside') ? ['a file beside the config was not copied'] : []),
    ...shellIn(config).map((path) => `shell is left: ${path}`),
    ...missingUnits(config).map((name) => `not the agents' unit: ${name}`),
    ...expiring(config),
  ];
}

const textsOf = ({ storage }: IgnitionConfig): [string, string][] =>
  (storage?.files ?? []).flatMap(({ path, contents }) =>
    contents === undefined ? [] : [[path, decodeDataUrl(contents).toString('utf8')]],
  );

const shellIn = (config: IgnitionConfig): string[] =>
  textsOf(config)
    .filter(([path, text]) => text.startsWith('#!') && !path.endsWith('-generator'))
    .map(([path]) => path)
    .filter((path) => !KEPT_SHELL.test(path));

function missingUnits({ systemd }: IgnitionConfig): string[] {
  const units = new Map((systemd?.units ?? []).map(({ name, contents }) => [name, contents]));
  return liveUnits
    .filter(({ name, contents }) => units.get(name) !== contents)
    .map(({ name }) => name);
}

/** Every certificate must be valid on the last day of shipping, and a day longer. */
function expiring(config: IgnitionConfig): string[] {
  const until = Date.now() + SHIPPING_DAYS * 86_400_000;
  return distinctCertificates(textsOf(config).map(([, text]) => text))
    .map((pem) => validityOf(pem).notAfter)
    .filter((notAfter) => notAfter.getTime() < until)
    .map((notAfter) => `a certificate expires on ${notAfter.toISOString()}`);
}
