# What Debian wants otherwise than `cmake --install` leaves it: the licence by reference, the manual and the change log compressed.
# Run by cpack where the package's files are laid out.
set(ROOT ${CPACK_TEMPORARY_DIRECTORY}/usr)
set(DOC ${ROOT}/share/doc/probeprof)
file(REMOVE ${DOC}/LICENSE ${DOC}/LICENSE.uPlot) # copyright has both
file(COPY_FILE ${CPACK_PROBEPROF_DEBIAN}/copyright ${DOC}/copyright)
file(COPY_FILE ${CPACK_PROBEPROF_DEBIAN}/changelog ${DOC}/changelog)
file(MAKE_DIRECTORY ${ROOT}/share/lintian/overrides)
file(COPY_FILE ${CPACK_PROBEPROF_DEBIAN}/lintian-overrides ${ROOT}/share/lintian/overrides/probeprof)
execute_process(COMMAND gzip -9n ${DOC}/changelog ${ROOT}/share/man/man1/probeprof.1 COMMAND_ERROR_IS_FATAL ANY)
file(GLOB_RECURSE FILES ${ROOT}/share/* ${ROOT}/lib/* ${ROOT}/include/*)
file(CHMOD ${FILES} PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
