import t from 'tap';
import { bootScript } from '../../../../lab/machine/net-boot.ts';

t.test('iPXE loads kernel, initramfs and config; the root is left to the initramfs', async (t) => {
  const lines = bootScript('http://192.0.2.1:8080', 'live/os').split('\n');
  t.equal(lines[0], '#!ipxe');
  const kernel = lines.find((line) => line.startsWith('kernel ')) ?? '';
  t.match(kernel, 'kernel http://192.0.2.1:8080/live/os-vmlinuz ');
  t.match(kernel, ' coreos.live.rootfs_url=http://192.0.2.1:8080/live/os-rootfs.img ');
  t.match(kernel, ' rd.neednet=1 ');
  t.match(kernel, ' ignition.platform.id=metal ');
  t.notMatch(kernel, 'coreos.liveiso', 'there is no ISO to wait for');
  const loaded = lines.filter((line) => line.startsWith('initrd '));
  const named = [...kernel.matchAll(/ initrd=(\S+)/g)].map(([, name]) => name);
  t.same(
    loaded.map((line) => line.split(' ')[2]),
    named,
    'the kernel of UEFI takes those that its arguments name',
  );
  t.match(loaded.join(), 'initrd --name config http://192.0.2.1:8080/ignition.img');
});
