/**
 * Output of efibootmgr from bug reports and manuals; none of it was recorded here, where no
 * firmware with variables is available.
 */

/** Version 17, with -v: the loader in File(), the firmware's optional data as text. */
export const version17 = `BootCurrent: 0004
Timeout: 0 seconds
BootOrder: 0004,0000,0001,0002,0003
Boot0000* UiApp\tFvVol(7cb8bdc9-f8eb-4f34-aaea-3ee4af6516a1)/FvFile(462caa21-7614-4503-836e-8ab6f4662331)
Boot0001* UEFI VBOX CD-ROM VB2-01700376\tPciRoot(0x0)/Pci(0x1,0x1)/Ata(1,0,0)N.....YM....R,Y.
Boot0002  UEFI VBOX HARDDISK VB2d5be0c5-80049c5d\tPciRoot(0x0)/Pci(0xd,0x0)/Sata(0,65535,0)N.....YM....R,Y.
Boot0003* EFI Internal Shell\tFvVol(7cb8bdc9-f8eb-4f34-aaea-3ee4af6516a1)/FvFile(7c04a583-9e3e-4f1c-ad65-e05268d0b4d1)
Boot0004* Oracle Linux\tHD(1,GPT,dff50c5d-96ed-406c-9823-212649b405bd,0x800,0x12c000)/File(\\EFI\\redhat\\shimx64.efi)
`;

/** Version 18, without options: no File(), optional data as digits directly after the loader. */
export const version18 = `BootCurrent: 0002
BootNext: 000a
Timeout: 1 seconds
BootOrder: 0002,0000,000A,0004,0007
Boot0000* Windows Boot Manager\tHD(1,GPT,64025f92-2885-411a-bc74-a7e1a226287d,0x800,0x32000)/\\EFI\\MICROSOFT\\BOOT\\BOOTMGFW.EFI57494e444f5753000100000088000000780000004200430044004f0042004a00
Boot0002* Fedora\tHD(1,GPT,64025F92-2885-411A-BC74-A7E1A226287D,0x800,0x32000)/\\EFI\\FEDORA\\SHIMX64.EFI
Boot0004* UEFI: KIOXIA-EXCERIA PLUS G3 SSD, Partition 1\tHD(1,GPT,9c4a52a5-6e00-4b89-934c-3196b4703b22,0x800,0x64800)/\\EFI\\Microsoft\\Boot\\bootmgfw.efi0000424f
Boot0007* UEFI: KingstonDTR30G2 PMAP, Partition 2\tPciRoot(0x0)/Pci(0x14,0x0)/USB(1,0)/HD(2,GPT,bdb458bb-9979-5536-0c3f-6cd9b3c94985,0x3a8ffd8,0x10000)0000424f
Boot000A* kali\tHD(1,GPT,50e98fc0-f37e-4267-8755-e1c13927891e,0x800,0x96000)/\\EFI\\kali\\grubx64.efiRC
Boot2001* EFI USB Device\tRC
`;

/** Version 18, with -v: each path's bytes below it. */
export const version18Verbose = `BootCurrent: 0001
Timeout: 0 seconds
BootOrder: 0003,0001
Boot0001* UEFI Misc Device\tPciRoot(0x0)/Pci(0x3,0x0){auto_created_boot_option}
      dp: 02 01 0c 00 d0 41 03 0a 00 00 00 00 / 01 01 06 00 00 03 / 7f ff 04 00
    data: 4e ac 08 81 11 9f 59 4d 85 0e e2 1a 52 2c 59 b2
Boot0003* Fedora\tHD(2,GPT,94ff4025-5276-4bec-adea-e98da271b64c,0x1000,0x3f800)/\\EFI\\fedora\\shimx64.efi
      dp: 04 01 2a 00 02 00 00 00 / 04 04 34 00 5c 00 45 00 / 7f ff 04 00
`;

/** Output for firmware that never had a boot order. */
export const withoutOrder = `BootCurrent: 0000
No BootOrder is set; firmware will attempt recovery
Boot0000* UiApp\tFvVol(7cb8bdc9-f8eb-4f34-aaea-3ee4af6516a1)/FvFile(462caa21-7614-4503-836e-8ab6f4662331)
`;
