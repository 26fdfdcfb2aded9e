package org.vas.filesystem;

import static java.util.Objects.requireNonNull;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.apache.hadoop.security.AccessControlException;

/**
 * Walks from the mount to a file. It opens each name from the directory above without following it,
 * and follows or refuses symbolic links by the rule of {@link LinkGuard}. It never leaves the
 * mount.
 */
final class LinkWalk implements Closeable {
  private static final int MAX_LINKS = 40;  // the kernel's own bound
  private static final int READ = 4;
  private static final int SEARCH = 1;

  private final Descriptors calls;
  private final Path mount;
  private final int reader;
  private final Deque<Descriptor> at = new ArrayDeque<>();
  private final Deque<Step> todo = new ArrayDeque<>();
  private final List<Link> doubted = new ArrayList<>();
  private Descriptor found;
  private int links;

  /**
   * Starts at the mount.
   *
   * @param reader the user id whose rights are used
   */
  LinkWalk(Descriptors calls, Path mount, int reader) throws IOException {
    this.calls = requireNonNull(calls, "calls");
    this.mount = requireNonNull(mount, "mount");
    this.reader = reader;
    at.push(calls.follow(mount));
  }

  /** A link of another user, who is neither root nor proven to own what it leads to. */
  private static final class Link {
    private final Path file;
    private final int owner;
    private final Path target;
    private boolean everybodyMayRead = true;

    Link(Path file, int owner, Path target) {
      this.file = file;
      this.owner = owner;
      this.target = target;
    }
  }

  /** A name to enter, or the end of a link's target. */
  private static final class Step {
    private final String name;
    private final Link ended;

    Step(String name, Link ended) {
      this.name = name;
      this.ended = ended;
    }
  }

  /**
   * Walks the whole path; a link in its last place is followed too.
   *
   * @param use what the caller does with the file, which decides about links
   * @return the name in its directory where the path ends, which need not exist
   * @throws NoSuchFileException if a directory on the way is not there
   * @throws AccessControlException if a link on the way is not to be followed
   */
  GuardedEntry walk(Path file, LinkGuard.Use use) throws IOException {
    push(mount.relativize(file));
    String last = "";
    while (!todo.isEmpty()) {
      Step step = todo.pop();
      if (step.ended != null) {
        arrived(step.ended);
      } else if (isLast() && !step.name.equals("..")) {
        last = enterLast(file, step.name);
      } else {
        enter(file, step.name);
      }
    }
    judge(use);
    Descriptor object = found;
    found = null;
    return new GuardedEntry(calls, at.pop(), last, object, file);
  }

  private boolean isLast() {
    return todo.stream().allMatch(step -> step.ended != null);
  }

  private void push(Path names) {
    for (int i = names.getNameCount() - 1; i >= 0; i--) {
      String name = names.getName(i).toString();
      if (!name.isEmpty() && !name.equals(".")) {
        todo.push(new Step(name, null));
      }
    }
  }

  private String enterLast(Path file, String name) throws IOException {
    Descriptor entry;
    try {
      entry = calls.entry(at.peek(), name, file);
    } catch (NoSuchFileException absent) {
      doubted.forEach(link -> link.everybodyMayRead = false);
      return name;
    }
    found = entry;  // closed with the walk
    FileId identity = entry.id();
    if (!identity.isSymlink()) {
      note(identity, identity.isDirectory() ? READ | SEARCH : READ);
      return name;
    }
    follow(file, name, entry, identity);
    found = null;
    entry.close();
    return "";
  }

  private void enter(Path file, String name) throws IOException {
    if (name.equals("..")) {
      leave(file);
      return;
    }
    Descriptor entry = calls.entry(at.peek(), name, file);
    try {
      FileId identity = entry.id();
      if (identity.isSymlink()) {
        follow(file, name, entry, identity);
        entry.close();
        return;
      }
      if (!identity.isDirectory()) {
        throw new ErrnoException(file, "open", Errno.ENOTDIR);
      }
      note(identity, SEARCH);
    } catch (IOException e) {
      entry.close();
      throw e;
    }
    at.push(entry);
  }

  private void leave(Path file) throws IOException {
    if (at.size() == 1) {
      throw outOfMount(file + ": a symbolic link on the way");
    }
    at.pop().close();
    note(at.peek().id(), SEARCH);
  }

  private void follow(Path file, String name, Descriptor link, FileId identity)
      throws IOException {
    if (++links > MAX_LINKS) {
      throw new ErrnoException(file, "open", Errno.ELOOP);
    }
    Path planted = at.peek().path().toRealPath().resolve(name);
    Path stored = Path.of(calls.target(link, file));
    if (identity.owner() != reader && identity.owner() != 0) {
      Link followed = new Link(planted, identity.owner(), stored);
      doubted.add(followed);
      todo.push(new Step("", followed));
    }
    if (!stored.isAbsolute()) {
      push(stored);
      return;
    }
    while (at.size() > 1) {
      at.pop().close();
    }
    push(belowMount(planted, stored));
  }

  private Path belowMount(Path link, Path stored) throws IOException {
    for (Path root : List.of(mount, mount.toRealPath())) {
      if (stored.startsWith(root)) {
        return root.relativize(stored);
      }
    }
    throw outOfMount(link + ": a symbolic link to '" + stored + "'");
  }

  private void note(FileId identity, int needed) {
    if ((identity.forOthers() & needed) != needed) {
      doubted.forEach(link -> link.everybodyMayRead = false);
    }
  }

  private AccessControlException outOfMount(String link) {
    return new AccessControlException(link + " leads out of the mount " + mount
        + ": not followed; move the data below the mount, or set " + LustreConf.LINKS.name()
        + "=all where all users trust one another");
  }

  // Where nothing is there yet, the owner of the directory may say what is made in it.
  private void arrived(Link link) throws IOException {
    Descriptor target = found == null ? at.peek() : found;
    if (target.id().owner() == link.owner) {
      doubted.remove(link);
    }
  }

  private void judge(LinkGuard.Use use) throws AccessControlException {
    for (Link link : doubted) {
      if (use == LinkGuard.Use.CHANGE || !link.everybodyMayRead) {
        throw new AccessControlException(link.file + ": a symbolic link to '" + link.target
            + "', made by the user with id " + link.owner + ", who does not own what it leads to"
            + (use == LinkGuard.Use.READ ? ", which not everybody may read" : "")
            + ": not followed; name the file itself, let its owner make the link, or set "
            + LustreConf.LINKS.name() + "=all where all users trust one another");
      }
    }
  }

  @Override
  public void close() throws ErrnoException {
    Descriptor last = found;
    try (last) {
      while (!at.isEmpty()) {
        at.pop().close();
      }
    }
  }
}
