# What the Vagrantfile's machines are to Ansible: the map, an inventory and variables. Pure: the lab's
# sizes go in, hashes come out, which the Vagrantfile writes. See docs/vagrant.md.
module VasLab
  FIRST_OSS, FIRST_GUEST, MOST_OSS = 11, 101, 80
  MDS, CLIENT = "mds1", "client1"
  MDS_LAST, CLIENT_LAST = 2, 3
  # The second disk of a machine that serves Lustre.
  DISK = "/dev/vdb"

  # net: the first 24 bits of every address, "10.213.0"; pf: an OSS' interface on the private network;
  # memory in MiB, disks in GiB.
  Sizes = Struct.new(:net, :servers, :pf, :guest_mib, :guest_cpus, :guest_gib, keyword_init: true)

  module_function

  # Machine => last number of its address; the client comes last, as all are provisioned with it.
  def machines(servers)
    named = (0...servers).to_h { |index| ["oss#{index + 1}", FIRST_OSS + index] }
    { MDS => MDS_LAST, **named, CLIENT => CLIENT_LAST }
  end

  # cluster.yaml.
  def map(sizes)
    {
      "site" => "vagrant-lab",
      "lustre" => { "fsname" => "lab", "mount" => "/lustre", "mgs_nids" => ["#{sizes.net}.#{MDS_LAST}@tcp"] },
      "hosts" => (0...sizes.servers).map { |index| host(sizes, index) },
      "yarn" => { "resourcemanager" => { "name" => CLIENT, "address" => "#{sizes.net}.#{CLIENT_LAST}" } },
    }
  end

  def host(sizes, index)
    address = "#{sizes.net}.#{FIRST_OSS + index}"
    {
      "name" => "oss#{index + 1}", "address" => address, "nids" => ["#{address}@tcp"], "osts" => [index],
      "nics" => { "pf" => sizes.pf, "vf" => "vf0", "bridge" => "vasbr0" },
      "storage_devices" => [DISK],
      "guests" => [guest(sizes, index)],
    }
  end

  def guest(sizes, index)
    name, last = "vm#{index + 1}", FIRST_GUEST + index
    mac = ->(leg) { format("52:54:00:d5:%02x:%02x", index + 1, leg) }
    {
      "name" => name, "address" => "#{sizes.net}.#{last}", "macs" => { "vf" => mac[1], "virtio" => mac[2] },
      "memory" => "#{sizes.guest_mib}MiB", "vcpus" => sizes.guest_cpus,
      "disks" => [{ "path" => "/var/lib/vas-guests/#{name}.qcow2", "size" => "#{sizes.guest_gib}GiB" }],
    }
  end

  # Beside the map's inventory: who serves Lustre, and how SSH gets there. key: machine => private key;
  # user: the machines' own; guests are entered as vas, by guest_key.
  def inventory(sizes, user, keys, guest_key, variables)
    oss = keys.keys - [MDS, CLIENT]
    mds = { "ansible_host" => "#{sizes.net}.#{MDS_LAST}", "vas_lustre_server_mdt" => DISK }
    hosts = keys.to_h { |name, key| [name, { "ansible_ssh_private_key_file" => key }] }
    hosts[MDS].merge!(mds)
    in_as_vas = { "ansible_user" => "vas", "ansible_ssh_private_key_file" => guest_key }
    {
      "all" => {
        "vars" => { "ansible_user" => user, **variables },
        "hosts" => hosts,
        "children" => {
          "vas_lab" => { "hosts" => [MDS, *oss].to_h { |name| [name, {}] } },
          "vas_guests" => { "vars" => in_as_vas },
        },
      },
    }
  end

  # What roles are told. emulated: no KVM in the machines.
  def variables(archives, directory, emulated, public_key)
    settings = { "accelerator" => emulated ? "qemu" : "kvm", "authorized_keys" => [public_key] }
    {
      "vas_program_archive" => archives.fetch("wheels"), "vas_hadoop_archive" => archives.fetch("hadoop"),
      "vas_guest_image" => directory, "vas_guest_settings" => settings,
      "vas_lustre_server_reboot" => true,
      # Nobody uses the lab's storage while it is made.
      "vas_storage_host_interrupt" => true,
      # A laptop's servers have no 8 GiB beside their guests, and the host's clock.
      "vas_hostcheck_accepted" => ["memory", "cpus", "time"],
    }
  end

  # What has to be there before machines are provisioned: a line for each thing that is not.
  # things: what => [its file, what to do]
  def lacks(things)
    things.reject { |_, (file, _)| file && File.file?(file) }.map do |what, (file, fix)|
      "vas: #{what}: #{file ? "no file #{file}" : "not named"}; #{fix}"
    end
  end
end
