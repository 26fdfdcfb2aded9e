package org.vas.filesystem;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.vas.layout.LayoutException;
import org.vas.layout.LayoutRequest;
import org.vas.layout.StripeLayout;

/** Reads and sets the layouts of files on a mounted Lustre, without starting a program. */
public final class LustreFiles {
  private static final Logger LOG = LoggerFactory.getLogger(LustreFiles.class);
  private static final String LOV = "lustre.lov";

  private final ClientCalls calls;
  private final Descriptors descriptors;

  /** Makes an object that calls this machine's C library. */
  public LustreFiles() {
    this(new Libc());
  }

  LustreFiles(ClientCalls calls) {
    this.calls = requireNonNull(calls, "calls");
    this.descriptors = new Descriptors();
  }

  /**
   * Returns the bytes of a file's layout, its attribute {@code lustre.lov}; empty when the file has
   * none, or the mount does not know such attributes.
   *
   * @throws IOException when the file is gone, or may not be read, as Lustre demands
   */
  public Optional<byte[]> layout(Path file) throws IOException {
    try {
      return Optional.of(calls.get(file, LOV));
    } catch (ErrnoException e) {
      if (e.is(Errno.ENODATA) || e.is(Errno.EOPNOTSUPP)) {
        return Optional.empty();
      }
      throw e;
    }
  }

  /**
   * Makes an empty file with the layout asked for, or no file at all, and returns its identity.
   *
   * <p>Lustre fixes a layout when a file is first opened, and ignores a later setxattr without an
   * error: so the file is made by mknod, and its layout is read back.
   *
   * @param mode permission bits; the owner's read bit must be among them, to read back
   * @param required whether to fail where layouts cannot be set; else the file has Lustre's choice
   * @throws LayoutRefusedException when the layout is refused, or is another than asked for
   * @throws PlantedException if another has put something else in the new file's place
   * @throws IOException for any other error, also if another writer replaced the file meanwhile
   */
  FileId create(Path file, int mode, LayoutRequest request, boolean required)
      throws IOException {
    FileId made = createPlain(file, mode);
    // By its handle: who may write the directory may put a link in its place at any time.
    try (Descriptor handle = descriptors.unfollowed(file)) {
      checkMade(file, handle, made);
      apply(handle.path(), request, required);
      return made;
    } catch (PlantedException planted) {
      throw planted;  // not ours to remove
    } catch (IOException e) {
      remove(file, made);
      throw e;
    }
  }

  private static void checkMade(Path file, Descriptor handle, FileId made) throws IOException {
    FileId found = handle.id();
    boolean mayBeMade = found.isRegularFile() && found.links() == 1;
    if (mayBeMade && !FileId.of(handle.path()).isSame(made)) {
      throw new IOException(Descriptor.shown(file)
          + ": replaced by another writer while it was made; let one writer have it");
    }
    if (!mayBeMade) {
      throw new PlantedException(Descriptor.shown(file), "was just made, and is "
          + found.kind() + " of the user with id " + found.owner() + " now");
    }
  }

  /**
   * Makes an empty file with the layout that its directory gives it; returns the file's identity.
   *
   * @throws ErrnoException {@code EEXIST} when something has the name
   */
  FileId createPlain(Path file, int mode) throws IOException {
    calls.mknod(file, mode);
    return FileId.ofLink(file);
  }

  /**
   * Removes a file, unless its name leads to another writer's file by now. A file that takes the
   * name between the check and the removal is removed.
   *
   * @param made the identity of the file to remove
   */
  static void remove(Path file, FileId made) throws IOException {
    if (FileId.ifPresent(file).filter(made::isSame).isPresent()) {
      try {
        Directories.remove(file);
      } catch (NoSuchFileException removedMeanwhile) {
        return;
      }
    }
  }

  private void apply(Path file, LayoutRequest request, boolean required) throws IOException {
    try {
      calls.set(file, LOV, request.encode());
    } catch (ErrnoException e) {
      if (!e.is(Errno.EOPNOTSUPP)) {
        throw new LayoutRefusedException(
            e.getMessage() + "; the layout asked for is " + request, e);
      }
      if (required) {
        throw new IOException(Descriptor.shown(file) + ": no layout can be set here: EOPNOTSUPP; mount Lustre there,"
            + " or set " + LustreConf.LAYOUT_REQUIRED.name() + "=false", e);
      }
      LOG.debug("{}: not on Lustre, so without a layout", Descriptor.shown(file));
      return;
    }
    verify(file, request);
  }

  private void verify(Path file, LayoutRequest request) throws IOException {
    byte[] got = layout(file).orElseThrow(() -> new LayoutRefusedException(
        Descriptor.shown(file) + ": the layout " + request + " was accepted and is not there", null));
    StripeLayout layout = decode(file, got);
    if (!request.isMetBy(layout)) {
      throw new LayoutRefusedException(Descriptor.shown(file) + ": asked for the layout " + request + " and got "
          + layout + "; are the OSTs up and not full ('lfs df')?", null);
    }
  }

  private static StripeLayout decode(Path file, byte[] bytes) throws IOException {
    try {
      return StripeLayout.decode(bytes);
    } catch (LayoutException e) {
      throw new IOException(Descriptor.shown(file) + ": " + LOV + ": " + e.getMessage(), e);
    }
  }
}
