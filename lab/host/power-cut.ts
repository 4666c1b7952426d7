import { quickly } from './command.ts';
import { teardownSignal } from './mount.ts';

/** EXT4_IOC_SHUTDOWN with EXT4_GOING_FLAGS_NOLOGFLUSH (linux/fs/ext4/ext4.h). */
const program = [
  'my ($request, $flags) = (0x8004587d, pack("L", 2));',
  'for my $path (@ARGV) {',
  '  open(my $file, "<", $path) or die "$path: $!";',
  '  ioctl($file, $request, $flags) or die "$path: $!";',
  '}',
].join('\n');

/**
 * Shuts down the ext4 file systems of these files: nothing more reaches the disk, not even the
 * journal. Killing the host would leave its writes in the page cache, so that no check could
 * fail. In Perl, because Node has no ioctl and every Debian has perl.
 */
export async function cutPower(files: readonly string[]): Promise<void> {
  await quickly('perl', ['-e', program, ...files], teardownSignal());
}
