import { plural } from '../../report/reading/words.ts';
import { LAYOUT } from '../create/shared-iso.ts';
import { sha256OnIso } from '../iso/iso-files.ts';
import { requireIsoPrograms } from '../iso/programs.ts';
import { damaged, readSharedIso } from '../iso/shared-iso.ts';
import type { Surroundings } from '../surroundings.ts';

/** `sno verify shared-iso FILE`: @throws Failure (usage) that names every file on it that is not what it describes */
export async function verifySharedIso(
  iso: string,
  { environment, print, signal }: Pick<Surroundings, 'environment' | 'print' | 'signal'>,
): Promise<void> {
  await requireIsoPrograms(environment);
  const { medium, files } = await readSharedIso(iso, LAYOUT, signal);
  const faults: string[] = [];
  for (const [path, extent] of files) {
    const found = await sha256OnIso(iso, extent, signal);
    if (found !== extent.sha256) {
      faults.push(`${path}: expected SHA-256 ${extent.sha256}, found ${found}`);
    }
  }
  if (faults.length > 0) throw damaged(iso, faults);
  const { version, architecture, payloadSha256 } = medium;
  const payload = payloadSha256 === undefined ? 'no payload' : `payload ${payloadSha256}`;
  print(`${iso} has no Ignition config. sno-agents ${version} for ${architecture}, ${payload}:`);
  print(`${plural(files.size, 'file')}, each with the digest that is expected`);
}
