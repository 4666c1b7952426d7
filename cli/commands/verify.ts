import type { Command } from 'commander';
import { type AcceptOptions, acceptUntested } from '../payload/accept.ts';
import type { Surroundings } from '../surroundings.ts';
import { type VerifyBackupOptions, verifyPortableBackup } from '../verify/backup.ts';
import { verifyIgnition } from '../verify/ignition.ts';
import { type VerifyInstallConfigOptions, verifyInstallConfig } from '../verify/install-config.ts';
import { verifyPayloadFolder } from '../verify/payload.ts';
import { type VerifyReleaseOptions, verifyRelease } from '../verify/release.ts';
import { verifySharedIso } from '../verify/shared-iso.ts';
import { type VerifyUpdateOptions, verifyUpdate } from '../verify/update.ts';
import { addVerifySite } from './site.ts';

/** `sno verify ...`: checks of created files. */
export function addVerify(sno: Command, surroundings: Surroundings): void {
  const verify = sno.command('verify').description('check files before they ship');
  verify
    .command('ignition')
    .description('check an Ignition config: schema, paths, hashes, modes of private keys')
    .argument('<file>')
    .action((path: string) => verifyIgnition(path, surroundings));
  verify
    .command('install-config')
    .description(
      'check DIR/install-config.yaml and the manifests beside it, as "sno create" does; write nothing',
    )
    .option('--dir <dir>', 'folder with install-config.yaml', '.')
    .option('--aio', 'of an all-in-one host, which runs from the disk that it boots from')
    .action((options: VerifyInstallConfigOptions) => verifyInstallConfig(options, surroundings));
  verify
    .command('payload')
    .description(
      'check a payload: size and digest of every file, contents of images, architecture and versions of programs, nothing missing, nothing extra',
    )
    .argument('<dir>')
    .option(...acceptUntested)
    .action((directory: string, options: AcceptOptions) =>
      verifyPayloadFolder(directory, options, surroundings),
    );
  verify
    .command('shared-iso')
    .description(
      'check an ISO of "sno create shared-iso": no Ignition config on it, and the digest of the executable and of every file of the payload',
    )
    .argument('<file>')
    .action((path: string) => verifySharedIso(path, surroundings));
  verify
    .command('backup')
    .description(
      'check a backup that "sno-backup create --to" wrote: decrypt it, compare its author and the digest of every file, and print what it has',
    )
    .argument('<file>')
    .requiredOption('--identity <file>', 'the secret key of a recipient, as age-keygen wrote it')
    .option('--signer <file>', 'auth/backup-signer.json of the host that has to have made it')
    .option('--json', 'for programs')
    .action((path: string, options: VerifyBackupOptions) =>
      verifyPortableBackup(path, options, surroundings),
    );
  verify
    .command('update')
    .description('check an update: signature, executable and payload')
    .argument('<dir>')
    .requiredOption('--ssh-key <file>', 'public keys that may sign it, one on each line')
    .option(...acceptUntested)
    .action((directory: string, options: VerifyUpdateOptions) =>
      verifyUpdate(directory, options, surroundings),
    );
  verify
    .command('release')
    .description(
      'check a downloaded release of this project: the signature of SHA256SUMS, and each of its files that is there',
    )
    .argument('<dir>')
    .requiredOption('--ssh-key <file>', 'public keys that may sign it, one on each line')
    .action((directory: string, options: VerifyReleaseOptions) =>
      verifyRelease(directory, options, surroundings),
    );
  addVerifySite(verify, surroundings);
}
