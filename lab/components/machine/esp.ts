import { mkdir, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { EFI_VENDOR } from './boot-files.ts';
import type { bootToolPaths } from './boot-tools.ts';

export interface EspOptions {
  readonly sizeMiB: number;
  /** GRUB's, which continues on another file system. */
  readonly configuration: string;
  readonly tools: ReturnType<typeof bootToolPaths>;
}

/**
 * An EFI system partition as a file, created here: the loader that all firmware starts, and the
 * vendor's, both through shim, so that Secure Boot accepts them.
 */
export async function makeEsp(
  file: string,
  { sizeMiB, configuration, tools }: EspOptions,
  signal: AbortSignal,
): Promise<void> {
  const within = { cancelSignal: signal, timeout: 60_000 };
  const mtools = (program: string, ...args: string[]) => {
    return execa(program, ['-i', file, ...args], within);
  };
  await writeFile(file, '');
  await truncate(file, sizeMiB * 1024 * 1024);
  const geometry = ['-T', String(sizeMiB * 2048), '-h', '64', '-s', '32'];
  await mtools('mformat', ...geometry, '-v', 'EFI-SYSTEM', '::');
  const work = `${file}.work`;
  await mkdir(work);
  const grubConfiguration = join(work, 'grub.cfg');
  await writeFile(grubConfiguration, configuration);
  await mtools('mmd', '::/EFI', '::/EFI/BOOT', `::/${EFI_VENDOR}`);
  for (const [source, path] of [
    [tools.shim, 'EFI/BOOT/BOOTX64.EFI'],
    [tools.grubEfi, 'EFI/BOOT/grubx64.efi'],
    [tools.shim, `${EFI_VENDOR}/shimx64.efi`],
    [tools.grubEfi, `${EFI_VENDOR}/grubx64.efi`],
    [grubConfiguration, `${EFI_VENDOR}/grub.cfg`],
  ] as const) {
    await mtools('mcopy', source, `::/${path}`);
  }
  await rm(work, { recursive: true });
}
