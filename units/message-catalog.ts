import { readFileSync } from 'node:fs';

/**
 * Explains the events of the journal to `journalctl -x`. Of the folders that systemd reads, this is the
 * one that is writable on CoreOS; /etc is not among them. systemd compiles it at the first boot
 * (systemd-journal-catalog-update.service), on both hosts, since their /var is new then.
 */
export const messageCatalog = {
  path: '/usr/local/lib/systemd/catalog/sno-agents.catalog',
  contents: readFileSync(new URL('./catalog/sno-agents.catalog', import.meta.url), 'utf8'),
} as const;
